package com.lsqlrunner.json;

import static com.lsqlrunner.bytes.HostileRecord.TOO_DEEP;
import static com.lsqlrunner.bytes.HostileRecord.TOO_MANY;
import static com.lsqlrunner.bytes.HostileRecord.assertRefused;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that claim many values, large numbers, or values nested in one another, for both parsers. */
final class HostileJsonTest {
    private static final StructType TYPE = new StructType()
            .add("wide", DataTypes.createArrayType(wide(60)))
            .add("named", DataTypes.createMapType(DataTypes.StringType, wide(60)))
            .add("numbers", DataTypes.createArrayType(DataTypes.LongType))
            .add("price", DataTypes.createDecimalType(10, 2))
            .add("prices", DataTypes.createMapType(DataTypes.StringType, DataTypes.createDecimalType(10, 2)))
            .add("text", DataTypes.StringType);

    private final JsonObjectReader reader = JsonObjectReader.of(TYPE);
    private final JsonRecordReader parser = new JsonRecordReader(TYPE, TYPE);

    /** As {@link DecodeJson}, whose parent class needs jars that the tests do not have. */
    private InternalRow decoded(byte[] record) {
        InternalRow row = reader.read(record);
        return row == null ? parser.read(record) : row;
    }

    private static StructType wide(int fields) {
        StructType type = new StructType();
        for (int i = 0; i < fields; i++) {
            type = type.add("f" + i, DataTypes.LongType);
        }
        return type;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static String repeated(String start, String item, int count, String end) {
        return start + (item + ",").repeat(count - 1) + item + end;
    }

    @Test
    void theFieldsOfEmptyObjectsAreCounted() {
        byte[] items = bytes(repeated("{\"wide\":[", "{}", 70_000, "]}"));
        byte[] entries = bytes(repeated("{\"named\":{", "\"a\":{}", 70_000, "}}"));

        assertRefused("field wide[65535]: " + TOO_MANY.formatted(32), () -> reader.read(items));
        assertRefused("field wide[65535]: " + TOO_MANY.formatted(32), () -> parser.read(items));
        assertRefused("field named.a: " + TOO_MANY.formatted(32), () -> reader.read(entries));
        assertRefused("field named.a: " + TOO_MANY.formatted(32), () -> parser.read(entries));
    }

    @Test
    void arraysOfArraysAreRead() {
        StructType type =
                new StructType().add("a", DataTypes.createArrayType(DataTypes.createArrayType(DataTypes.LongType)));
        byte[] record = bytes(repeated("{\"a\":[", "[]", 1_000_000, "]}"));

        assertEquals(
                1_000_000, JsonObjectReader.of(type).read(record).getArray(0).numElements());
        assertEquals(
                1_000_000,
                new JsonRecordReader(type, type).read(record).getArray(0).numElements());
    }

    @Test
    void aRecordWithManySmallValuesIsReadByBothParsers() {
        byte[] record = bytes(repeated("{\"numbers\":[", "1", 1_500_000, "]}"));

        for (InternalRow row : new InternalRow[] {reader.read(record), parser.read(record)}) {
            assertEquals(1_500_000, row.getArray(2).numElements());
        }
    }

    @Test
    void objectsThatAreNotReadAreNotCounted() {
        byte[] record = bytes(repeated("{\"other\":[", "{\"x\":1}", 300_000, "],\"price\":\"1.5\"}"));

        assertNotNull(parser.read(record));
        assertNotNull(decoded(record));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"text | field text: | field text:", "other | '' | ''"})
    void valuesMayBeNested500LevelsDeep(String field, String ofArrays, String ofObjects) {
        byte[] arrays = bytes("{\"%s\":%s".formatted(field, "[".repeat(100_000)));
        byte[] objects = bytes("{\"%s\":%s".formatted(field, "{\"a\":".repeat(100_000)));

        assertRefused((ofArrays + " " + TOO_DEEP).strip(), () -> decoded(arrays));
        assertRefused((ofObjects + " " + TOO_DEEP).strip(), () -> decoded(objects));
    }

    @Test
    void aNestedValueOfAnotherTypeIsRefusedAtItsFirstLevel() {
        String nested = "[".repeat(100_000);

        assertRefused("field wide[0]: an array is not an object", () -> decoded(bytes("{\"wide\":" + nested)));
        assertRefused("field numbers[0]: an array is not a number", () -> decoded(bytes("{\"numbers\":" + nested)));
    }

    @Test
    void aTextNested400LevelsDeepIsRead() {
        String nested = "[".repeat(400) + "]".repeat(400);

        InternalRow row = decoded(bytes("{\"text\":%s}".formatted(nested)));

        assertEquals(nested, row.getUTF8String(5).toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"price\":1e9999999} | field price: a number has more than 1000 digits",
                "{\"price\":1e-9999999} | field price: a number has more than 1000 digits",
                "{\"price\":1e99999999999999999999} | field price: a number has more than 1000 digits",
                "{\"numbers\":[1e9999999]} | field numbers[0]: a number has more than 1000 digits",
                "{\"price\":\"1e9999999\"} | field price: \"1e9999999\" is not a valid decimal(10,2)",
                "{\"price\":\"-1.5E+0009999\"} | field price: \"-1.5E+0009999\" is not a valid decimal(10,2)",
                "{\"prices\":{\"a\":1,\"b\":\"1,0e9\"}} | field prices.b: \"1,0e9\" is not a valid decimal(10,2)",
                "{\"prices\":{\"a\":1,\"b\":1e9999999}} | field prices.b: a number has more than 1000 digits"
            })
    void aNumberWithALargeExponentIsRefused(String text, String reason) {
        assertRefused(reason, () -> decoded(bytes(text)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"text\":\"1e9999999\"}",
                "{\"text\":1e9999999}",
                "{\"other\":1e9999999,\"text\":\"1e9999999\"}"
            })
    void aTextWithALargeExponentIsRead(String text) {
        InternalRow row = decoded(bytes(text));

        assertEquals("1e9999999", row.getUTF8String(5).toString());
    }

    @ParameterizedTest
    @CsvSource({"1e2, 100.00", "1.20e-1, 0.12", "0e-1000, 0.00", "-1.5000, -1.50"})
    void anExponentWithinTheLimitIsRead(String number, String read) {
        InternalRow row = decoded(bytes("{\"price\":%s}".formatted(number)));

        assertEquals(read, row.getDecimal(3, 10, 2).toString());
    }

    @Test
    void fieldsAreAddedOnlyToRecordsThatCanBeRead() {
        byte[] deep = bytes("{\"a\":" + "[".repeat(100_000));

        assertRefused(TOO_DEEP, () -> ExtendJson.extended(deep, bytes("{\"b\":1}"), new StructType()));
    }
}
