package com.lsqlrunner.topic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class RecordRowTest {
    private final RecordRow row = new RecordRow();

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(UTF_8);
    }

    private static ConsumerRecord<byte[], byte[]> record(String topic, String key, String value) {
        TimestampType type = TimestampType.LOG_APPEND_TIME;
        long ts = 1_700_000_000_123L;
        return new ConsumerRecord<>(
                topic, 3, 42L, ts, type, 1, 1, bytes(key), bytes(value), new RecordHeaders(), Optional.empty());
    }

    @Test
    void aRowHasTheColumnsOfSparksSourceAndATimestampInMilliseconds() {
        row.set(record("a", "k", "v"));
        for (InternalRow each : new InternalRow[] {row, row.copy()}) {
            assertArrayEquals(bytes("k"), each.getBinary(0));
            assertArrayEquals(bytes("v"), each.getBinary(1));
            assertEquals(UTF8String.fromString("a"), each.getUTF8String(2));
            assertEquals(3, each.getInt(3));
            assertEquals(42L, each.getLong(4));
            assertEquals(1_700_000_000_123L, each.getLong(5));
            assertEquals(1, each.getInt(6));
            assertTrue(each.isNullAt(7));
        }
    }

    @Test
    void theNextRecordReplacesAllColumns() {
        row.set(record("a", "k", "v"));
        InternalRow first = row.copy();
        row.set(record("b", null, null));
        assertTrue(row.isNullAt(0));
        assertTrue(row.isNullAt(1));
        assertEquals(UTF8String.fromString("b"), row.getUTF8String(2));
        assertArrayEquals(bytes("k"), first.getBinary(0));
        assertEquals(UTF8String.fromString("a"), first.getUTF8String(2));
    }

    @Test
    void headersAreAnArrayOfNamesAndValues() {
        ConsumerRecord<byte[], byte[]> record = record("a", "k", "v");
        record.headers().add("h", bytes("x")).add("é", null);
        row.set(record);
        ArrayData headers = row.getArray(7);
        assertEquals(2, headers.numElements());
        assertEquals(UTF8String.fromString("h"), headers.getStruct(0, 2).getUTF8String(0));
        assertArrayEquals(bytes("x"), headers.getStruct(0, 2).getBinary(1));
        assertEquals(UTF8String.fromString("é"), headers.getStruct(1, 2).getUTF8String(0));
        assertTrue(headers.getStruct(1, 2).isNullAt(1));
    }
}
