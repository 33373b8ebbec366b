package com.lsqlrunner.kafka;

import com.lsqlrunner.PythonEntry;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Sets the timestamp of a record from the reserved header {@value #HEADER}: Spark's Kafka sink writes headers but
 * cannot set a timestamp.
 *
 * <p>The header holds milliseconds since the epoch, 8 bytes, big-endian. The record sent has that timestamp and no such
 * header (the last one wins when there are several); all other headers stay, in order and with their duplicates. A
 * record without the header is sent as it is.
 *
 * <p>A header of another size, or a negative timestamp, is an {@link IllegalArgumentException}. The producer logs what
 * an interceptor throws and sends the record unchanged, so the reserved header then stays visible on the topic.
 */
@PythonEntry
public final class RecordTimestampInterceptor implements ProducerInterceptor<byte[], byte[]> {
    /** The name of the reserved header. */
    public static final String HEADER = "lsql.ts";

    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
        Header timestamp = record.headers().lastHeader(HEADER);
        if (timestamp == null) {
            return record;
        }
        RecordHeaders others = new RecordHeaders();
        for (Header header : record.headers()) {
            if (!header.key().equals(HEADER)) {
                others.add(header);
            }
        }
        return new ProducerRecord<>(
                record.topic(), record.partition(), millis(timestamp.value()), record.key(), record.value(), others);
    }

    private static long millis(byte[] value) {
        if (value == null || value.length != Long.BYTES) {
            String size = value == null ? "null" : value.length + " bytes";
            throw new IllegalArgumentException("header " + HEADER + " must be 8 bytes, it is " + size);
        }
        return ByteBuffer.wrap(value).getLong();
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
        // Nothing to do: the record is complete when it is sent.
    }

    @Override
    public void close() {
        // There are no resources to release.
    }

    @Override
    public void configure(Map<String, ?> configs) {
        // Nothing to configure: the header's name is fixed on both sides.
    }
}
