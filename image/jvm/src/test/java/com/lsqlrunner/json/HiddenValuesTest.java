package com.lsqlrunner.json;

import static com.lsqlrunner.errors.HiddenValues.SECRET;
import static com.lsqlrunner.errors.HiddenValues.reason;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors of JSON without the values of the record. tests/streams has those for which Spark needs its error texts. */
final class HiddenValuesTest {
    private static String reasonOf(String record) {
        return reason(() -> new JsonRecordReader(JsonRecords.TYPE, JsonRecords.TYPE).read(record.getBytes(UTF_8)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{\"counts\":{\"s3cr3t\":x}} | field counts{}: it is not JSON, at byte 20",
                "{\"s3cr3t\":[x]} | it is not JSON, at byte 11",
                "{\"id\":s3cr3t} | field id: it is not JSON, at byte 6",
                "s3cr3t | it is not JSON, at byte 0",
                "{\"name\":\"s3cr3t | field name: the JSON is incomplete, at byte 15",
                "{\"s3cr3t\" 1} | it is not JSON, at byte 10",
                "{\"name\":\"\\s3cr3t\"} | field name: it is not JSON, at byte 10"
            })
    void textThatIsNotJsonIsDescribedByThePlace(String record, String expected) {
        assertEquals(expected, reasonOf(record));
    }

    @Test
    void anObjectThatCannotBeExtendedIsDescribedByThePlace() {
        byte[] broken = ("{\"a\":" + SECRET).getBytes(UTF_8);

        assertEquals(
                "it is not JSON, at byte 5",
                reason(() -> ExtendJson.extended(broken, "{}".getBytes(UTF_8), new StructType())));
    }
}
