package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Malformed bytes: each record is reported with a reason, and no other exception is thrown. */
final class MalformedTest {
    private static Object decoded(String type, String hex) {
        Schema schema = Records.schema(type);
        return Records.decoded(schema, schema, HexFormat.of().parseHex(hex));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "\"int\" | '' | 0 bytes are too few for a schema id",
                "\"int\" | 00000000 | 4 bytes are too few for a schema id",
                "\"int\" | 010000000702 | the first byte is 1, not 0",
                "\"int\" | 0000000007 | the record ends in the middle of a value",
                "\"int\" | 000000000780 | the record ends in the middle of a value",
                "\"int\" | 00000000070200 | 1 bytes remain after the value",
                "\"int\" | 0000000007ffffffffff7f | a number is too large for an int",
                "\"long\" | 0000000007ffffffffffffffffffff01 | a number has more than 10 bytes",
                "\"boolean\" | 000000000702 | a boolean is neither 0 nor 1",
                "\"double\" | 000000000700000000000000 | the record ends in the middle of a value",
                "\"string\" | 00000000070461 | the record ends in the middle of a value",
                "\"string\" | 000000000701 | a length is negative",
                "\"string\" | 000000000702ff | a string is not UTF-8",
                "[\"null\",\"int\"] | 000000000704 | the union or enum has no item 2",
                "{\"type\":\"array\",\"items\":\"null\"} | 0000000007feffffffffffffffff01 | the arrays and maps of the record have too many items: they would take more than 32 MiB of memory",
                "{\"type\":\"array\",\"items\":\"null\"} | 0000000007ffffffffffffffffff01 | the record ends in the middle of a value",
                "{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"} | 0000000007feffffffffffffffff01 | a timestamp is out of range",
                "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":1} | 000000000700 | a decimal has no bytes"
            })
    void malformedBytesAreReportedWithAReason(String type, String hex, String reason) {
        assertEquals(
                reason,
                assertThrows(MalformedRecordException.class, () -> decoded(type, hex))
                        .reason());
    }

    @Test
    void aDecoderCanBeUsedAfterAMalformedRecord() {
        Schema schema = Records.schema("\"string\"");
        RecordDecoder decoder = new RecordDecoder(schema, id -> schema);
        AvroInput input = new AvroInput();
        byte[] good = Records.bytes(1, schema, "a");

        assertThrows(MalformedRecordException.class, () -> decoder.decode(Arrays.copyOf(good, good.length - 1), input));

        assertEquals(UTF8String.fromString("a"), decoder.decode(good, input));
    }

    @Test
    void randomBytesGiveAValueOrAReason() {
        Schema schema = Records.record(
                Records.field("s", "\"string\""),
                Records.field("u", "[\"null\",\"long\",\"string\"]"),
                Records.field("m", "{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"double\"}}"),
                Records.field("d", "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":9,\"scale\":2}"));
        RecordDecoder decoder = new RecordDecoder(schema, id -> schema);
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] record = new byte[5 + random.nextInt(30)];
            random.nextBytes(record);
            Arrays.fill(record, 0, 5, (byte) 0);
            try {
                decoder.decode(record, new AvroInput());
            } catch (MalformedRecordException expected) {
                assertFalse(expected.reason().isEmpty());
            }
        }
    }
}
