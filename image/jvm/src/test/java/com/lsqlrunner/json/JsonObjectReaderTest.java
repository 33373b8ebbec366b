package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonObjectReaderTest {
    private static final int RECORDS = 300_000;

    private final JsonObjectReader reader = JsonObjectReader.of(JsonRecords.TYPE);
    private final JsonRecordReader parser = new JsonRecordReader(JsonRecords.TYPE, JsonRecords.TYPE);

    @Test
    void readsOnlyRecordsThatTheOtherReaderReadsAndToTheSameValues() {
        JsonRecords records = new JsonRecords(20261123);
        int read = 0;
        for (int i = 0; i < RECORDS; i++) {
            byte[] record = records.next();
            InternalRow row = reader.read(record);
            if (row != null) {
                read++;
                assertEquals(parsed(record), row.toString(), () -> new String(record, UTF_8));
            }
        }
        assertTrue(read > RECORDS / 20, "read only " + read);
    }

    @Test
    void readsTheTextOfTheNumbersThatTheOtherReaderReads() {
        JsonObjectReader texts = JsonObjectReader.of(JsonRecords.TYPE, JsonRecords.WITH_TEXT);
        JsonRecordReader textParser = new JsonRecordReader(JsonRecords.TYPE, JsonRecords.WITH_TEXT);
        JsonRecords records = new JsonRecords(20261125);
        int read = 0;
        for (int i = 0; i < RECORDS; i++) {
            byte[] record = records.next();
            InternalRow row = texts.read(record);
            if (row != null) {
                read++;
                assertEquals(textParser.read(record).toString(), row.toString(), () -> new String(record, UTF_8));
            }
        }
        assertTrue(read > RECORDS / 20, "read only " + read);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-0", "55", "10.0", "1e3", "1.5E+02", "12345678901234567890.0123456789", "1e999"})
    void theTextOfANumberHasAllItsDigits(String number) {
        JsonObjectReader texts = JsonObjectReader.of(JsonRecords.TYPE, JsonRecords.WITH_TEXT);
        byte[] record =
                "{\"speed\": %s ,\"table\":[[ %s]]}".formatted(number, number).getBytes(UTF_8);

        InternalRow row = texts.read(record);

        assertEquals(number, row.getUTF8String(2).toString());
        assertEquals(number, row.getArray(8).getArray(0).getUTF8String(0).toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"1\"", "\"NaN\"", "01", "1.", "true", "{}", "NaN"})
    void leavesTextThatIsNoNumberToTheOtherReader(String value) {
        JsonObjectReader texts = JsonObjectReader.of(JsonRecords.TYPE, JsonRecords.WITH_TEXT);

        assertNull(texts.read("{\"speed\":%s}".formatted(value).getBytes(UTF_8)));
    }

    private String parsed(byte[] record) {
        try {
            return parser.read(record).toString();
        } catch (MalformedRecordException error) {
            return error.reason();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                " { \"id\" : 1 , \"speed\" : -0.5 }\n",
                "{\"id\":-999999999999999999,\"count\":-2147483648,\"speed\":123456789012345,\"name\":\"Zürich 😀\"}",
                "{\"tags\":[\"a\", null],\"places\":[{\"x\":1,\"other\":{}},null],\"table\":[[],[1,2.5]]}",
                "{\"price\":-12.5,\"total\":0.0001,\"time\":\"2026-01-31T12:30:59.5Z\",\"day\":\"2024-02-29\"}",
                "{\"time\":1767225600,\"counts\":{\"a\":1,\"b\":null},\"clock\":\"23:59:59.000001\"}",
                "{\"é\":true,\"at\":{\"x\":0,\"place\":null,\"z\":[{}]},\"other\":{\"a\":[1e9,\"\\u00e9\\n\"]}}",
            })
    void readsCommonRecordsItself(String text) {
        InternalRow row = reader.read(text.getBytes(UTF_8));

        assertNotNull(row);
        assertEquals(parsed(text.getBytes(UTF_8)), row.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "{\"id\":1",
                "{\"id\":1}x",
                "{\"id\":1,}",
                "{\"id\":1,\"id\":2}",
                "{\"id\":1.0}",
                "{\"id\":\"1\"}",
                "{\"id\":1e3}",
                "{\"id\":9223372036854775807}",
                "{\"count\":2147483648}",
                "{\"speed\":-0}",
                "{\"speed\":1e3}",
                "{\"speed\":0.1234567890123456}",
                "{\"name\":7}",
                "{\"name\":\"a\\n\"}",
                "{\"\\u0069d\":1}",
                "{\"other\":\"\\x\"}",
                "{\"other\":01}",
                "{\"other\":\"\t\"}",
                "{\"tags\":[\"a\",]}",
                "{\"tags\":\"a\"}",
                "{\"price\":1.005}",
                "{\"price\":1000000}",
                "{\"price\":\"1.5\"}",
                "{\"time\":\"2026-02-29T00:00:00Z\"}",
                "{\"time\":\"2026-01-31T12:30:59+01:00\"}",
                "{\"day\":\"2026-1-3\"}",
                "{\"clock\":\"12:30\"}",
                "{\"clock\":\"24:00:00\"}",
                "{\"clock\":\"12:30:59.1234567\"}",
                "{\"counts\":{\"\\n\":1}}",
            })
    void leavesOtherRecordsToTheOtherReader(String text) {
        assertNull(reader.read(text.getBytes(UTF_8)));
    }

    /** The reader compares each name with the one at the same place of the record before. */
    @Test
    void theRecordBeforeDoesNotChangeHowNamesAreRead() {
        String many = IntStream.range(0, 70).mapToObj(i -> "\"f" + i + "\":0,").collect(Collectors.joining());
        String lengthy = "\"" + "n".repeat(70) + "\":1,";
        List<String> records = List.of(
                "{\"id\":1,\"count\":2}",
                "{\"count\":2,\"id\":1}",
                "{\"id\" :1,\"count\": 2}",
                "{\"id\" :3,\"counts\":{}}",
                "{\"other\":3,\"i\":0,\"idd\":0}",
                "{" + lengthy + "\"id\":1}",
                "{" + many + "\"id\":1}",
                "{" + many + "\"count\":1}");
        for (int round = 0; round < 2; round++) {
            for (String record : records) {
                assertEquals(
                        parsed(record.getBytes(UTF_8)),
                        reader.read(record.getBytes(UTF_8)).toString());
            }
        }
        assertNull(reader.read("{\"id\"".getBytes(UTF_8)));
        assertNull(reader.read("{\0:1}".getBytes(UTF_8)));
        assertNull(JsonObjectReader.of(JsonRecords.TYPE).read("{\0 1}".getBytes(UTF_8)));
    }

    @Test
    void leavesBytesThatAreNotUtf8ToTheOtherReader() {
        for (String text : new String[] {"{\"name\":\"é\"}", "{\"other\":\"é\"}", "{\"é\":true}"}) {
            byte[] record = text.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
            assertNull(reader.read(record));
        }
    }

    @Test
    void aStructWithAnotherTypeIsLeftToTheOtherReader() {
        assertNull(JsonObjectReader.of(new StructType().add("at", DataTypes.TimestampNTZType)));
        assertNull(JsonObjectReader.of(new StructType()
                .add("inner", new StructType().add("list", DataTypes.createArrayType(DataTypes.BinaryType)))));
        assertNull(JsonObjectReader.of(
                new StructType().add("map", DataTypes.createMapType(DataTypes.LongType, DataTypes.LongType))));
    }
}
