package com.lsqlrunner.topic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.delivery.ProducerOwner;
import com.lsqlrunner.delivery.RecordHeaderNames;
import com.lsqlrunner.delivery.RecordSender;
import com.lsqlrunner.delivery.SharedProducers;
import com.lsqlrunner.delivery.TaskResult;
import com.lsqlrunner.delivery.WrittenRecords;
import com.lsqlrunner.delivery.WrittenRecordsOf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class TopicWriterTest {
    private static final byte[] BATCH = "app/q/7".getBytes(UTF_8);
    private static final RecordColumns COLUMNS = RecordColumns.of(RecordColumns.SCHEMA);
    private static final RecordColumns IDENTIFIED = RecordColumns.of(
            RecordColumns.SCHEMA.add("id_high", DataTypes.LongType).add("id_low", DataTypes.LongType));

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
        List<String> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(header.key() + "=" + (header.value() == null ? "null" : new String(header.value(), UTF_8)));
        }
        return headers;
    }

    /** A row with the columns of {@link #IDENTIFIED}. */
    private static InternalRow withIdentity(InternalRow row, long high, long low) {
        int fields = RecordColumns.SCHEMA.length();
        Object[] values = new Object[fields + 2];
        for (int column = 0; column < fields; column++) {
            values[column] = row.get(column, RecordColumns.SCHEMA.apply(column).dataType());
        }
        values[fields] = high;
        values[fields + 1] = low;
        return new GenericInternalRow(values);
    }

    private TopicWriter identified(WrittenRecords written) {
        return new TopicWriter(
                SharedProducers.sender(producer), IDENTIFIED, BATCH, written, BatchAcknowledgements::new);
    }

    /** A sender that records the calls of its methods. */
    private static RecordSender recording(List<String> calls) {
        return new RecordSender() {
            @Override
            public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                calls.add("send");
            }

            @Override
            public void commit() {
                calls.add("commit");
            }

            @Override
            public void close() {
                calls.add("close");
            }
        };
    }

    /** A sender of a worker: at its first record it finds a record that is written already. */
    private RecordSender finding(WrittenRecords records, TaskResult result) {
        RecordSender sending = SharedProducers.sender(producer);
        return new RecordSender() {
            @Override
            public WrittenRecords begin() {
                return records;
            }

            @Override
            public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                sending.send(record, callback);
            }

            @Override
            public void commit() {
                sending.commit();
            }

            @Override
            public TaskResult result() {
                return result;
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void recordsThatTheSenderFindsAreLeftOutAndItsResultIsReported() {
        TaskResult result = new TaskResult(3, new ProducerOwner(7, 1), 1, List.of());
        RecordSender sender = finding(WrittenRecordsOf.identities(new long[] {1, 1}), result);
        TopicWriter writer = new TopicWriter(sender, IDENTIFIED, BATCH, null, BatchAcknowledgements::new);
        writer.write(withIdentity(row("a", "k", "there", 0), 1, 1));
        writer.write(withIdentity(row("a", "k", "new", 0), 1, 2));
        WriterCommitMessage[] messages = {writer.commit(), writer().commit()};

        assertEquals(1, producer.history().size());
        assertArrayEquals(bytes("new"), producer.history().get(0).value());
        assertEquals(List.of(result), TopicWriter.tasks(messages));
    }

    @Test
    void anOpenBatchNumbersItsRecords() {
        TopicWriter writer = new TopicWriter(
                        SharedProducers.sender(producer), IDENTIFIED, BATCH, null, BatchAcknowledgements::new)
                .numbered();
        writer.write(withIdentity(row("a", "k", "v", 0), 1, 1));
        writer.write(withIdentity(row("a", null, "v", 0), 1, 2));
        writer.commit();

        for (int sent = 0; sent < 2; sent++) {
            byte[] name = producer.history()
                    .get(sent)
                    .headers()
                    .lastHeader(RecordHeaderNames.BATCH)
                    .value();
            assertEquals(new String(BATCH, UTF_8) + "." + (sent + 1), new String(name, UTF_8));
        }
    }

    private TopicWriter writer() {
        return new TopicWriter(SharedProducers.sender(producer), COLUMNS, BATCH, null, BatchAcknowledgements::new);
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
    void headersOfAnotherProcessorAreRemovedFromDeadLettersToo() {
        TopicWriter writer = writer();
        writer.write(
                row("dead", "k", "v", 1, "lsql.id", "1", "trace", "t", "lsql.batch", "other/q/1", "lsql.ids", "2"));

        assertEquals(
                List.of("trace=t", "lsql.ids=2", "lsql.batch=app/q/7"),
                headers(producer.history().get(0)));
    }

    @Test
    void theIdentityOfARecordIsItsLastHeader() {
        TopicWriter writer = identified(null);
        writer.write(withIdentity(row("a", "k", "v", 1, "lsql.id", "other", "trace", "t"), 258, -1));

        Header[] headers = producer.history().get(0).headers().toArray();
        assertEquals(
                List.of("trace", "lsql.batch", "lsql.id"),
                Stream.of(headers).map(Header::key).toList());
        assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 1, 2, -1, -1, -1, -1, -1, -1, -1, -1}, headers[2].value());
    }

    @Test
    void aRecordWithoutHeadersOfItsOwnHasBatchAndIdentity() {
        TopicWriter writer = identified(null);
        writer.write(withIdentity(row("a", "k", "v", 1), 1, 2));
        writer.write(withIdentity(row("a", "k", "v", 1), 3, 4));

        for (int sent = 0; sent < 2; sent++) {
            Header[] headers = producer.history().get(sent).headers().toArray();
            assertEquals(2, headers.length);
            assertArrayEquals(BATCH, headers[0].value());
            assertArrayEquals(RecordHeaderNames.identity(1 + 2 * sent, 2 + 2 * sent), headers[1].value());
        }
    }

    @Test
    void whatIsWrittenIsLeftOutAsOftenAsItWasWritten() {
        WrittenRecords written = WrittenRecordsOf.identities(new long[][] {{1, 1}, {1, 1}, {2, 7}});
        TopicWriter writer = identified(written);
        for (int repeated = 0; repeated < 3; repeated++) {
            writer.write(withIdentity(row("a", "k", "same " + repeated, 1), 1, 1));
        }
        writer.write(withIdentity(row("a", "k", "new", 1), 2, 8));
        writer.write(withIdentity(row("a", "k", "old", 1), 2, 7));
        writer.write(withIdentity(row("a", "k", "again", 1), 2, 7));
        WriterCommitMessage message = writer.commit();

        assertEquals(
                List.of("same 2", "new", "again"),
                producer.history().stream()
                        .map(record -> new String(record.value(), UTF_8))
                        .toList());
        assertEquals(0, written.remaining());
        assertEquals(3, TopicWriter.records(new WriterCommitMessage[] {message, null}));
    }

    private static InternalRow unchanged(InternalRow row, long high, long low, boolean isUnchanged) {
        Object[] values = Arrays.copyOf(
                ((GenericInternalRow) withIdentity(row, high, low)).values(), RecordColumns.SCHEMA.length() + 3);
        values[values.length - 1] = isUnchanged;
        return new GenericInternalRow(values);
    }

    @Test
    void anUnchangedResultIsOnlyWrittenIfAnOpenBatchHasWrittenAnotherValue() {
        RecordColumns columns = RecordColumns.of(RecordColumns.SCHEMA
                .add("id_high", DataTypes.LongType)
                .add("id_low", DataTypes.LongType)
                .add("unchanged", DataTypes.BooleanType));
        WrittenRecords written = WrittenRecordsOf.opened(new long[][] {{1, 1}, {2, 2}}, bytes("same"));
        TopicWriter writer =
                new TopicWriter(SharedProducers.sender(producer), columns, BATCH, written, BatchAcknowledgements::new);
        writer.write(unchanged(row("a", "k", "same", 1), 1, 1, true));
        writer.write(unchanged(row("a", "k", "before", 1), 2, 2, true));
        writer.write(unchanged(row("a", "k", "not opened", 1), 3, 3, true));
        writer.write(unchanged(row("a", "k", "changed", 1), 4, 4, false));
        writer.commit();

        assertEquals(
                List.of("before", "changed"),
                producer.history().stream()
                        .map(record -> new String(record.value(), UTF_8))
                        .toList());
    }

    @Test
    void theEndOfATaskCommitsAndClosesItsSender() {
        List<String> calls = new ArrayList<>();
        TopicWriter writer = new TopicWriter(recording(calls), COLUMNS, BATCH, null, BatchAcknowledgements::new);
        writer.write(row("a", "k", "v", 1));
        writer.commit();
        writer.close();

        assertEquals(List.of("send", "commit", "close"), calls);
    }

    @Test
    void aTaskThatFailsClosesItsSenderWithoutACommit() {
        List<String> calls = new ArrayList<>();
        TopicWriter writer = new TopicWriter(recording(calls), COLUMNS, BATCH, null, BatchAcknowledgements::new);
        writer.write(row("a", "k", "v", 1));
        writer.abort();
        writer.close();

        assertEquals(List.of("send", "close"), calls);
    }

    @Test
    void recordsOfACaseKeepTheirPartitionAndGetNoBatchHeader() {
        RecordColumns columns = RecordColumns.of(RecordColumns.SCHEMA.add("partition", DataTypes.IntegerType));
        TopicWriter writer =
                new TopicWriter(SharedProducers.sender(producer), columns, null, null, BatchAcknowledgements::new);
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
        TopicWriter writer =
                new TopicWriter(SharedProducers.sender(slow), COLUMNS, BATCH, null, BatchAcknowledgements::new);
        writer.write(row("a", "k", "v", 1));
        slow.errorNext(new KafkaException("refused"));

        KafkaException error = assertThrows(KafkaException.class, writer::commit);

        assertEquals("refused", error.getMessage());
    }

    @Test
    void afterARefusalNothingMoreIsSent() {
        MockProducer<byte[], byte[]> slow =
                new MockProducer<>(false, new ByteArraySerializer(), new ByteArraySerializer());
        TopicWriter writer =
                new TopicWriter(SharedProducers.sender(slow), COLUMNS, BATCH, null, BatchAcknowledgements::new);
        writer.write(row("a", "k", "v", 1));
        slow.errorNext(new KafkaException("refused"));

        assertThrows(KafkaException.class, () -> writer.write(row("a", "k", "v", 2)));

        assertEquals(1, slow.history().size());
    }
}
