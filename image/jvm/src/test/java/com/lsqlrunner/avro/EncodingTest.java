package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.SchemaMismatchException;
import java.util.HexFormat;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values and types that do not fit a schema, and promotion to wider types. */
final class EncodingTest {
    private static final String DECIMAL =
            "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":5,\"scale\":2}";

    private static byte[] encoded(DataType type, Schema schema, Object value) {
        return new RecordEncoder(type, schema, Records.ID).encode(value);
    }

    private static String refusal(DataType type, Schema schema) {
        return assertThrows(SchemaMismatchException.class, () -> new RecordEncoder(type, schema, Records.ID))
                .reason();
    }

    private static String refusal(DataType type, Schema schema, Object value) {
        return assertThrows(SchemaMismatchException.class, () -> encoded(type, schema, value))
                .reason();
    }

    private static StructType struct(String name, DataType type) {
        return DataTypes.createStructType(List.of(DataTypes.createStructField(name, type, true)));
    }

    private static Object row(Object value) {
        return new GenericInternalRow(new Object[] {value});
    }

    private static Object text(String value) {
        return UTF8String.fromString(value);
    }

    @Test
    void aRecordBeginsWithAZeroAndTheId() {
        assertEquals(
                "000000000704", HexFormat.of().formatHex(encoded(DataTypes.LongType, Records.schema("\"long\""), 2L)));
    }

    @Test
    void aRecordContainsNoBytesOfOneThatDidNotFit() {
        Schema schema = Records.record(Records.field("a", "\"string\""), Records.field("b", "\"string\""));
        StructType type = struct("a", DataTypes.StringType).add("b", DataTypes.StringType);
        RecordEncoder encoder = new RecordEncoder(type, schema, Records.ID);
        Object unfit = new GenericInternalRow(new Object[] {text("a"), null});
        assertThrows(SchemaMismatchException.class, () -> encoder.encode(unfit));

        Object row = new GenericInternalRow(new Object[] {text("c"), text("d")});
        assertEquals("000000000702630264", HexFormat.of().formatHex(encoder.encode(row)));
    }

    @Test
    void aRecordContainsNoBytesOfThePreviousOne() {
        RecordEncoder encoder = new RecordEncoder(DataTypes.StringType, Records.schema("\"string\""), Records.ID);
        byte[] large = encoder.encode(text("x".repeat(5_000)));

        assertEquals(5_000 + 2 + 5, large.length);
        assertEquals("00000000070261", HexFormat.of().formatHex(encoder.encode(text("a"))));
    }

    @Test
    void aValueIsPromotedToAWiderType() {
        assertArrayEquals(
                encoded(DataTypes.LongType, Records.schema("\"long\""), 3L),
                encoded(DataTypes.IntegerType, Records.schema("\"long\""), 3));
        assertArrayEquals(
                encoded(DataTypes.DoubleType, Records.schema("\"double\""), 0.5),
                encoded(DataTypes.FloatType, Records.schema("\"double\""), 0.5f));
        assertArrayEquals(
                encoded(DataTypes.createDecimalType(5, 2), Records.schema(DECIMAL), Decimal.apply("1.50")),
                encoded(DataTypes.createDecimalType(4, 1), Records.schema(DECIMAL), Decimal.apply("1.5")));
    }

    @Test
    void aValueIsWrittenAsTheBranchThatHoldsItsType() {
        Schema union = Records.schema("[\"null\",\"string\",\"long\"]");

        assertEquals("00000000070406", HexFormat.of().formatHex(encoded(DataTypes.LongType, union, 3L)));
        assertEquals("000000000700", HexFormat.of().formatHex(encoded(DataTypes.LongType, union, null)));
    }

    @Test
    void aMissingFieldIsWrittenAsItsDefault() {
        Schema schema = Records.record(Records.field("d", "\"int\"", "9"), Records.field("a", "\"int\""));

        assertEquals(
                "00000000071202",
                HexFormat.of().formatHex(encoded(struct("a", DataTypes.IntegerType), schema, row(1))));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"string\" | bigint does not fit Avro's string: field a",
                "\"int\" | bigint does not fit Avro's int: field a",
                "[\"null\",\"boolean\"] | bigint does not fit Avro's boolean: field a",
                "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"} | bigint does not fit Avro's long (timestamp-millis): field a"
            })
    void aTypeThatDoesNotFitIsReportedWithItsField(String schema, String reason) {
        StructType type = struct("a", DataTypes.LongType);

        assertEquals(reason, refusal(type, Records.record(Records.field("a", schema))));
    }

    @Test
    void aDecimalTypeWithMoreDigitsDoesNotFit() {
        assertEquals(
                "decimal(6,2) does not fit Avro's bytes (decimal)",
                refusal(DataTypes.createDecimalType(6, 2), Records.schema(DECIMAL)));
    }

    @Test
    void aFieldThatTheSchemaLacksIsRefused() {
        Schema schema = Records.record(Records.field("b", "\"int\"", "1"));

        assertEquals("the schema has no such field: field a", refusal(struct("a", DataTypes.IntegerType), schema));
    }

    @Test
    void aMissingFieldWithoutDefaultIsReported() {
        Schema schema = Records.record(Records.field("a", "\"int\""), Records.field("b", "\"int\""));

        assertEquals(
                "there is no value for a field that has no default: field b",
                refusal(struct("a", DataTypes.IntegerType), schema));
    }

    @Test
    void aNullInAFieldThatIsNotNullableIsRefused() {
        Schema schema = Records.record(Records.field("a", "\"int\""));

        assertEquals(
                "field a: a value is null, and the schema does not allow it",
                refusal(struct("a", DataTypes.IntegerType), schema, row(null)));
    }

    @Test
    void valuesThatTheSchemaCannotHoldAreRefused() {
        String symbols = "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]}";
        String two = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":2}";
        String uuid = "{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}";
        String nanos = TypesTest.logical("long", "timestamp-nanos");

        assertEquals("the enum E has no symbol B", refusal(DataTypes.StringType, Records.schema(symbols), text("B")));
        assertEquals(
                "1 bytes instead of the 2 of the schema",
                refusal(DataTypes.BinaryType, Records.schema(two), new byte[1]));
        assertEquals("1-1-1-1-1 is not a UUID", refusal(DataTypes.StringType, Records.schema(uuid), text("1-1-1-1-1")));
        assertEquals(
                "a timestamp is out of range for nanoseconds",
                refusal(DataTypes.TimestampType, Records.schema(nanos), Long.MAX_VALUE));
    }
}
