package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** The field that the error of a malformed record names. */
final class FailingFieldTest {
    private static final Schema ADDRESS = Records.schema("{\"type\":\"record\",\"name\":\"A\",\"fields\":["
            + "{\"name\":\"street\",\"type\":\"string\"},{\"name\":\"paid\",\"type\":\"boolean\"}]}");
    private static final Schema SCHEMA = Records.record(
            Records.field("id", "\"int\""),
            Records.field("address", ADDRESS.toString()),
            Records.field("flags", "{\"type\":\"array\",\"items\":\"boolean\"}"),
            Records.field("by_name", "{\"type\":\"map\",\"values\":[\"null\",\"A\"]}"));

    /** Has the byte 1 only where a boolean is true. */
    private static byte[] record(boolean address, boolean flag, boolean named) {
        return Records.bytes(
                Records.ID,
                SCHEMA,
                Records.of(
                        SCHEMA,
                        10,
                        Records.of(ADDRESS, "x", address),
                        List.of(false, flag),
                        Map.of("home", Records.of(ADDRESS, "y", named))));
    }

    private static byte[] invalidBoolean(byte[] record) {
        for (int i = RecordDecoder.HEADER_BYTES; i < record.length; i++) {
            record[i] = record[i] == 1 ? 9 : record[i];
        }
        return record;
    }

    private static String reason(Schema reader, byte[] record) {
        return assertThrows(MalformedRecordException.class, () -> Records.decoded(SCHEMA, reader, record))
                .reason();
    }

    @Test
    void fieldsOfRecordsItemsAndEntriesAreNamed() {
        String problem = ": a boolean is neither 0 nor 1";

        assertEquals("field address.paid" + problem, reason(SCHEMA, invalidBoolean(record(true, false, false))));
        assertEquals("field flags[1]" + problem, reason(SCHEMA, invalidBoolean(record(false, true, false))));
        assertEquals("field by_name.home.paid" + problem, reason(SCHEMA, invalidBoolean(record(false, false, true))));
    }

    @Test
    void aFieldThatIsNotReadIsNamedAmongThoseBesideIt() {
        Schema onlyId = Records.record(Records.field("id", "\"int\""));
        byte[] record = record(false, false, false);

        assertEquals(
                "field flags: the record ends in the middle of a value",
                reason(onlyId, Arrays.copyOf(record, RecordDecoder.HEADER_BYTES + 5)));
        assertEquals(
                "field address: the record ends in the middle of a value",
                reason(onlyId, Arrays.copyOf(record, RecordDecoder.HEADER_BYTES + 2)));
    }
}
