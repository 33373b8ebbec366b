package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import java.nio.charset.Charset;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which records are malformed, and the forms of values; {@link JsonObjectReaderTest} compares the faster reader. */
class JsonRecordReaderTest {
    private static final StructType TYPE = JsonRecords.TYPE;
    private static final int TIME = TYPE.fieldIndex("time");

    private static InternalRow read(String record) {
        byte[] text = record.getBytes(UTF_8);
        InternalRow fast = JsonObjectReader.of(TYPE).read(text);
        InternalRow row = new JsonRecordReader(TYPE, TYPE).read(text);
        assertEquals(fast == null ? row.toString() : fast.toString(), row.toString());
        return row;
    }

    private static String refusal(byte[] record) {
        return assertThrows(MalformedRecordException.class, () -> new JsonRecordReader(TYPE, TYPE).read(record))
                .reason();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"id\":1}{\"id\":2}",
                "{\"id\":1}\n{\"id\":2}",
                "{\"id\":1} x",
                "{\"id\":1},",
                "[{\"id\":1}]",
                "1",
                "null",
                "\"id\"",
                "",
                " ",
                "{'id':1}",
                "{\"name\":'a'}",
                "{id:1}",
                "{\"id\":01}",
                "{\"id\":+1}",
                "{\"speed\":.5}",
                "{\"speed\":5.}",
                "{\"speed\":NaN}",
                "{\"speed\":-Infinity}",
                "{\"other\":NaN}",
                "{\"other\":[1,]}",
                "{\"id\":1,}",
                "{\"id\":1 // one\n}",
                "{\"id\":1",
                "{\"name\":\"\t\"}"
            })
    void textThatIsNotOneJsonObjectIsMalformed(String record) {
        refusal(record.getBytes(UTF_8));
    }

    @Test
    void otherEncodingsAreMalformed() {
        for (Charset charset : new Charset[] {UTF_16, UTF_16LE}) {
            assertEquals("it is not JSON in UTF-8", refusal("{\"id\":1}".getBytes(charset)));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"id\":1.5} | id",
                "{\"id\":9223372036854775808} | id",
                "{\"id\":\"1\"} | id",
                "{\"id\":true} | id",
                "{\"count\":2147483648} | count",
                "{\"count\":1e10} | count",
                "{\"speed\":1e309} | speed",
                "{\"speed\":\"1.5\"} | speed",
                "{\"speed\":\"\"} | speed",
                "{\"é\":1} | é",
                "{\"é\":\"true\"} | é",
                "{\"price\":1.005} | price",
                "{\"price\":1000000} | price",
                "{\"price\":\"1,5\"} | price",
                "{\"price\":\"1.234,56\"} | price",
                "{\"price\":\"1.005\"} | price",
                "{\"time\":1.5} | time",
                "{\"time\":9223372036854776} | time",
                "{\"time\":\"2020-06\"} | time",
                "{\"time\":\"2020\"} | time",
                "{\"time\":\"12:30\"} | time",
                "{\"day\":\"2020\"} | day",
                "{\"day\":\"2020-06-01T00:00:00Z\"} | day",
                "{\"day\":18000} | day",
                "{\"clock\":\"1:2:3\"} | clock",
                "{\"tags\":{}} | tags",
                "{\"counts\":{\"a\":1.5}} | counts.a",
                "{\"places\":[{\"x\":[]}]} | places[0].x"
            })
    void aValueThatDoesNotFitItsTypeIsNamed(String record, String field) {
        assertEquals("field " + field, refusal(record.getBytes(UTF_8)).split(": ", 2)[0]);
    }

    @ParameterizedTest
    @CsvSource({"10.0, 10", "1e3, 1000", "-0, 0", "120e-1, 12", "9223372036854775807, 9223372036854775807"})
    void aWholeNumberMayHaveAFractionOfZerosOrAnExponent(String number, long expected) {
        assertEquals(expected, read("{\"id\":%s}".formatted(number)).getLong(0));
    }

    @ParameterizedTest
    @CsvSource({
        "1591970345000, 1591970345000000",
        "-1, -1000",
        "1591970345000.0, 1591970345000000",
        "9223372036854775, 9223372036854775000",
        "\"2020-06-12T13:59:05Z\", 1591970345000000",
        "\"2020-06-12 15:59:05+02:00\", 1591970345000000",
        "\"2020-06-12\", 1591920000000000"
    })
    void aTimestampIsMillisecondsOrHasAFormOfCast(String value, long micros) {
        assertEquals(micros, read("{\"time\":%s}".formatted(value)).getLong(TIME));
    }

    @Test
    void theLastOfFieldsAndKeysThatAppearTwiceCounts() {
        InternalRow row = read("{\"id\":1,\"counts\":{\"x\":1,\"x\":2,\"y\":3},\"id\":2}");

        assertEquals(2, row.getLong(0));
        assertEquals(
                "[2,3]",
                java.util.Arrays.toString(row.getMap(TYPE.fieldIndex("counts"))
                                .valueArray()
                                .toLongArray())
                        .replace(" ", ""));
    }

    @Test
    void valuesOfAnyTypeAreReadAsTheirText() {
        for (String value : new String[] {"[1, {\"a\":1.50}]", "{ \"b\" : [] }", "1.50", "1e3", "true"}) {
            assertEquals(
                    value,
                    read("{\"name\": %s ,\"id\":1}".formatted(value))
                            .getUTF8String(3)
                            .toString());
        }
    }

    @Test
    void textStandsForNumbersThatJsonDoesNotHave() {
        assertEquals(Double.NaN, read("{\"speed\":\"NaN\"}").getDouble(2));
        assertEquals(Double.NEGATIVE_INFINITY, read("{\"speed\":\"-Infinity\"}").getDouble(2));
    }
}
