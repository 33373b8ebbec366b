package com.lsqlrunner.topic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class TopicWriterTest {
    private static final byte[] BATCH = "app/q/7".getBytes(UTF_8);
    private static final RecordColumns COLUMNS = RecordColumns.of(RecordColumns.SCHEMA);

    private final MockProducer<byte[], byte[]> producer =
            new MockProducer<>(true, new ByteArraySerializer(), new ByteArraySerializer());

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(UTF_8);
    }

    /** A row of {@link RecordColumns#SCHEMA}. {@code headers} are alternating names and values. */
    private static InternalRow row(String topic, String key, String value, long ts, String... headers) {
        Object[] own = new Object[headers.length / 2];
        for (int index = 0; index < own.length; index++) {
            own[index] = new GenericInternalRow(
                    new Object[] {UTF8String.fromString(headers[2 * index]), bytes(headers[2 * index + 1])});
        }
        return new GenericInternalRow(new Object[] {
            UTF8String.fromString(topic),
            bytes(key),
            bytes(value),
            ts,
            headers.length == 0 ? null : new GenericArrayData(own)
        });
    }

    private static List<String> headers(ProducerRecord<byte[], byte[]> record) {
        List<String> found = new ArrayList<>();
        for (Header header : record.headers()) {
            found.add(header.key() + "=" + (header.value() == null ? "null" : new String(header.value(), UTF_8)));
        }
        return found;
    }

    private TopicWriter writer() {
        return new TopicWriter(producer, COLUMNS, BATCH, "dead", BatchAcknowledgements::new);
    }

    @Test
    void aRecordHasItsTopicKeyValueAndTimestamp() {
        TopicWriter writer = writer();
        writer.write(row("a", "k", "v", 1_500_000_000_123L));
        writer.write(row("b", null, null, 0));
        writer.commit();

        ProducerRecord<byte[], byte[]> first = producer.history().get(0);
        assertEquals("a", first.topic());
        assertArrayEquals(bytes("k"), first.key());
        assertArrayEquals(bytes("v"), first.value());
        assertEquals(1_500_000_000_123L, first.timestamp());
        assertNull(first.partition());
        ProducerRecord<byte[], byte[]> second = producer.history().get(1);
        assertEquals("b", second.topic());
        assertNull(second.key());
        assertNull(second.value());
        assertEquals(0L, second.timestamp());
    }

    @Test
    void theBatchHeaderIsTheLastAndReplacesThatOfTheSourceRecord() {
        TopicWriter writer = writer();
        writer.write(row("a", "k", "v", 1, "b", "1", "lsql.batch", "other/q/1", "a", null, "b", "2"));

        assertEquals(
                List.of("b=1", "a=null", "b=2", "lsql.batch=app/q/7"),
                headers(producer.history().get(0)));
    }

    @Test
    void aDeadLetterKeepsAllHeaders() {
        TopicWriter writer = writer();
        writer.write(row("dead", "k", "v", 1, "lsql.batch", "other/q/1"));

        assertEquals(
                List.of("lsql.batch=other/q/1", "lsql.batch=app/q/7"),
                headers(producer.history().get(0)));
    }

    @Test
    void recordsOfACaseKeepTheirPartitionAndGetNoBatchHeader() {
        RecordColumns columns = RecordColumns.of(RecordColumns.SCHEMA.add("partition", DataTypes.IntegerType));
        TopicWriter writer = new TopicWriter(producer, columns, null, null, BatchAcknowledgements::new);
        InternalRow row = row("a", "k", "v", 1, "lsql.batch", "x");
        Object[] values = new Object[columns.partition() + 1];
        for (int column = 0; column < columns.partition(); column++) {
            values[column] = row.get(column, RecordColumns.SCHEMA.apply(column).dataType());
        }
        values[columns.partition()] = 3;
        writer.write(new GenericInternalRow(values));

        assertEquals(3, producer.history().get(0).partition());
        assertEquals(List.of("lsql.batch=x"), headers(producer.history().get(0)));
    }

    @Test
    void aCommitFailsIfTheBrokersRefuseARecord() {
        MockProducer<byte[], byte[]> slow =
                new MockProducer<>(false, new ByteArraySerializer(), new ByteArraySerializer());
        TopicWriter writer = new TopicWriter(slow, COLUMNS, BATCH, null, BatchAcknowledgements::new);
        writer.write(row("a", "k", "v", 1));
        slow.errorNext(new KafkaException("refused"));

        KafkaException error = assertThrows(KafkaException.class, writer::commit);

        assertEquals("refused", error.getMessage());
    }

    @Test
    void afterARefusalNothingMoreIsSent() {
        MockProducer<byte[], byte[]> slow =
                new MockProducer<>(false, new ByteArraySerializer(), new ByteArraySerializer());
        TopicWriter writer = new TopicWriter(slow, COLUMNS, BATCH, null, BatchAcknowledgements::new);
        writer.write(row("a", "k", "v", 1));
        slow.errorNext(new KafkaException("refused"));

        assertThrows(KafkaException.class, () -> writer.write(row("a", "k", "v", 2)));

        assertEquals(1, slow.history().size());
    }
}
