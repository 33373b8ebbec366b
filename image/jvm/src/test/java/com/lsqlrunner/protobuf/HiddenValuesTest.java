package com.lsqlrunner.protobuf;

import static com.lsqlrunner.errors.HiddenValues.NUMBER;
import static com.lsqlrunner.errors.HiddenValues.SECRET;
import static com.lsqlrunner.errors.HiddenValues.reason;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** Errors of PROTOBUF without the values of the record. */
final class HiddenValuesTest {
    private static String refusal(FieldSpec field, DataType type, Object value) {
        MessageEncoder encoder = new MessageEncoder(
                new StructType().add("f", type), new MessageSpec("M", List.of(0), List.of(field)), Messages.ID);
        return reason(() -> encoder.encode(new GenericInternalRow(new Object[] {value})));
    }

    private static FieldSpec field(String kind, String presence, String key) {
        List<FieldSpec.Symbol> symbols = List.of(new FieldSpec.Symbol("X", 0));
        return new FieldSpec("f", 1, kind, presence, null, key, symbols, List.of());
    }

    private static String malformed(FieldSpec field, byte[] record) {
        MessageDecoder decoder = new MessageDecoder(
                new MessageSpec("M", List.of(0), List.of(field)), Messages.type(List.of(field)), id -> Messages.FILE);
        return reason(() -> decoder.read(record));
    }

    @Test
    void aTextThatIsNoSymbolIsDescribedByItsLength() {
        assertEquals(
                "field f: a text of 6 bytes is not one of [X]",
                refusal(field("enum", "implicit", null), DataTypes.StringType, UTF8String.fromString(SECRET)));
    }

    @Test
    void aNumberThatIsTooLargeIsNotShown() {
        Decimal large = Decimal.apply(new BigDecimal(NUMBER + "000000000000"));

        assertEquals(
                "field f: a number does not fit 32 unsigned bits",
                refusal(field("uint32", "implicit", null), DataTypes.LongType, NUMBER));
        assertEquals(
                "field f: a number does not fit 64 unsigned bits",
                refusal(field("uint64", "implicit", null), DataTypes.createDecimalType(38, 0), large));
    }

    @Test
    void aKeyOfAMapIsNotShown() {
        ArrayBasedMapData map =
                ArrayBasedMapData.apply(Map.of(UTF8String.fromString(SECRET), 1), key -> key, value -> value);

        assertEquals(
                "field f: a key is not of the type int32",
                refusal(
                        field("int32", "map", "int32"),
                        DataTypes.createMapType(DataTypes.StringType, DataTypes.IntegerType),
                        map));
    }

    @Test
    void theNumberOfAFieldThatTheSchemaDoesNotHaveIsNotShown() {
        byte[] groupOfFieldFour = Messages.record(new byte[] {35, 44});

        assertEquals(
                "a group ends with the number of another field",
                malformed(field("string", "implicit", null), groupOfFieldFour));
    }

    @Test
    void aByteThatIsNoSchemaIdIsNotShown() {
        assertEquals("the first byte is not 0", malformed(field("string", "implicit", null), SECRET.getBytes(UTF_8)));
    }
}
