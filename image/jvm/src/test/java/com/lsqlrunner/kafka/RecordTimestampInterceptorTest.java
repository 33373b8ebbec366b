package com.lsqlrunner.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Test;

class RecordTimestampInterceptorTest {
    private static final byte[] KEY = "k".getBytes(UTF_8);
    private static final byte[] VALUE = "v".getBytes(UTF_8);

    private final RecordTimestampInterceptor interceptor = new RecordTimestampInterceptor();

    private static ProducerRecord<byte[], byte[]> record() {
        return new ProducerRecord<>("t", 3, null, KEY, VALUE);
    }

    private static byte[] millis(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    private static List<String> headers(ProducerRecord<byte[], byte[]> record) {
        List<String> result = new ArrayList<>();
        for (Header header : record.headers()) {
            result.add(header.key() + "=" + (header.value() == null ? "null" : new String(header.value(), UTF_8)));
        }
        return result;
    }

    @Test
    void theHeaderBecomesTheTimestamp() {
        ProducerRecord<byte[], byte[]> record = record();
        record.headers().add("lsql.ts", millis(1_500_000_000_123L));

        ProducerRecord<byte[], byte[]> sent = interceptor.onSend(record);

        assertEquals(1_500_000_000_123L, sent.timestamp());
        assertEquals("t", sent.topic());
        assertEquals(3, sent.partition());
        assertArrayEquals(KEY, sent.key());
        assertArrayEquals(VALUE, sent.value());
    }

    @Test
    void otherHeadersKeepOrderAndDuplicates() {
        ProducerRecord<byte[], byte[]> record = record();
        record.headers().add("b", "1".getBytes(UTF_8));
        record.headers().add("a", null);
        record.headers().add("lsql.ts", millis(5));
        record.headers().add("b", "2".getBytes(UTF_8));

        assertEquals(List.of("b=1", "a=null", "b=2"), headers(interceptor.onSend(record)));
    }

    @Test
    void theLastOfSeveralHeadersIsUsedAndAllAreRemoved() {
        ProducerRecord<byte[], byte[]> record = record();
        record.headers().add("lsql.ts", millis(5));
        record.headers().add("lsql.ts", millis(6));

        ProducerRecord<byte[], byte[]> sent = interceptor.onSend(record);

        assertEquals(6, sent.timestamp());
        assertEquals(List.of(), headers(sent));
    }

    @Test
    void aRecordWithoutTheHeaderIsReturnedUnchanged() {
        ProducerRecord<byte[], byte[]> record = record();

        assertSame(record, interceptor.onSend(record));
        assertNull(record.timestamp());
    }

    @Test
    void aTombstoneWithoutAKeyIsUnchangedExceptForItsTimestamp() {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("t", null, null);
        record.headers().add("lsql.ts", millis(0));

        ProducerRecord<byte[], byte[]> sent = interceptor.onSend(record);

        assertEquals(0, sent.timestamp());
        assertNull(sent.key());
        assertNull(sent.value());
        assertNull(sent.partition());
    }

    @Test
    void aHeaderOfAnotherSizeIsRefused() {
        ProducerRecord<byte[], byte[]> record = record();
        record.headers().add("lsql.ts", "123".getBytes(UTF_8));

        assertThrows(IllegalArgumentException.class, () -> interceptor.onSend(record));
    }
}
