package com.lsqlrunner.topic;

import com.lsqlrunner.delivery.RecordHeaderNames;
import com.lsqlrunner.delivery.RecordSender;
import com.lsqlrunner.delivery.TaskResult;
import com.lsqlrunner.delivery.WrittenRecords;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes the rows of one task. A commit returns when the brokers have all of them, and consumers see them. */
public final class TopicWriter implements DataWriter<InternalRow> {
    private record Written(long records, TaskResult task) implements WriterCommitMessage {
        private static final long serialVersionUID = 1L;
    }

    private static final int HEADER_FIELDS = 2;

    private final RecordSender sender;
    private final RecordColumns columns;
    private final Header batch;

    /** The records that are written already; null when none is left. */
    private WrittenRecords written;

    /** The headers of a record without its own headers. */
    private final RecordHeaders batchOnly = new RecordHeaders();

    private final Supplier<Acknowledgements> task;
    private Acknowledgements acknowledgements;
    private long records;
    private boolean isNumbered;
    private long number;
    private UTF8String lastTopic;
    private String topic;

    /**
     * @param batch the value of the batch header; null for records without it, which keep such a header of the source
     *     record
     * @param written the records to leave out; null for none
     * @param task called once, before the first record is written
     */
    public TopicWriter(
            RecordSender sender,
            RecordColumns columns,
            byte[] batch,
            WrittenRecords written,
            Supplier<Acknowledgements> task) {
        this.sender = sender;
        this.columns = columns;
        this.written = written;
        this.batch = batch == null ? null : new RecordHeader(RecordHeaderNames.BATCH, batch);
        if (batch != null) {
            batchOnly.add(this.batch);
        }
        this.task = task;
    }

    /** Lets batch headers end with a dot and the number of the record in its task, from 1. */
    public TopicWriter numbered() {
        isNumbered = true;
        return this;
    }

    @Override
    public void write(InternalRow row) {
        if (acknowledgements == null) {
            acknowledgements = task.get();
            acknowledgements.writesWith(sender);
            WrittenRecords earlier = sender.begin();
            written = earlier == null ? written : earlier;
        }
        acknowledgements.throwFailure();
        byte[] value = row.isNullAt(columns.value()) ? null : row.getBinary(columns.value());
        if (isSkipped(row) || isWritten(row, value)) {
            return;
        }
        String target = topicOf(row);
        Integer partition = columns.partition() < 0 ? null : (Integer) row.getInt(columns.partition());
        byte[] key = row.isNullAt(columns.key()) ? null : row.getBinary(columns.key());
        sender.send(
                record(target, partition, row.getLong(columns.ts()), key, value, headers(row)),
                acknowledgements.sending());
        records++;
    }

    /** A record. Kafka's class refuses the timestamp -1, with which the brokers accept a record without a timestamp. */
    private static ProducerRecord<byte[], byte[]> record(
            String target, Integer partition, long ts, byte[] key, byte[] value, Iterable<Header> headers) {
        if (ts != RecordBatch.NO_TIMESTAMP) {
            return new ProducerRecord<>(target, partition, ts, key, value, headers);
        }
        return new ProducerRecord<>(target, partition, null, key, value, headers) {
            @Override
            public Long timestamp() {
                return RecordBatch.NO_TIMESTAMP;
            }
        };
    }

    private boolean isWritten(InternalRow row, byte[] value) {
        boolean isUnchanged = columns.unchanged() >= 0 && row.getBoolean(columns.unchanged());
        if (written == null || written.remaining() == 0) {
            written = null;
            return isUnchanged;
        }
        int column = columns.identity();
        long high = row.getLong(column);
        long low = row.getLong(column + 1);
        return (isUnchanged && !written.isOpened(high, low)) || written.take(high, low, value);
    }

    /** Whether a failed record is left out. Counts failed records. */
    private boolean isSkipped(InternalRow row) {
        int column = columns.errorAction();
        if (column < 0 || row.isNullAt(column)) {
            return false;
        }
        String action = row.getUTF8String(column).toString();
        String source = row.getUTF8String(column + 1).toString();
        acknowledgements.failed(
                new FailedRecord(action, row.getUTF8String(column + 2).toString(), source));
        return action.equals("skipped");
    }

    /** Most rows have the topic of the row before. */
    private String topicOf(InternalRow row) {
        UTF8String text = row.getUTF8String(columns.topic());
        if (!text.equals(lastTopic)) {
            lastTopic = text.copy();
            topic = text.toString();
        }
        return topic;
    }

    private RecordHeaders headers(InternalRow row) {
        boolean hasIdentity = columns.identity() >= 0;
        if (!hasIdentity && row.isNullAt(columns.headers())) {
            return batchOnly;
        }
        RecordHeaders headers = new RecordHeaders();
        if (!row.isNullAt(columns.headers())) {
            addOwn(row.getArray(columns.headers()), headers);
        }
        if (batch != null) {
            headers.add(isNumbered ? numberedBatch() : batch);
        }
        if (hasIdentity) {
            int column = columns.identity();
            byte[] identity = RecordHeaderNames.identity(row.getLong(column), row.getLong(column + 1));
            headers.add(new RecordHeader(RecordHeaderNames.IDENTITY, identity));
        }
        return headers;
    }

    private Header numberedBatch() {
        byte[] end = ("." + ++number).getBytes(StandardCharsets.US_ASCII);
        byte[] name = Arrays.copyOf(batch.value(), batch.value().length + end.length);
        System.arraycopy(end, 0, name, batch.value().length, end.length);
        return new RecordHeader(RecordHeaderNames.BATCH, name);
    }

    /** Adds the headers of the row, except the headers of another processor that wrote the source record. */
    private void addOwn(ArrayData own, RecordHeaders headers) {
        for (int index = 0; index < own.numElements(); index++) {
            InternalRow header = own.getStruct(index, HEADER_FIELDS);
            String name = header.getUTF8String(0).toString();
            if (batch == null || !RecordHeaderNames.isOurs(name)) {
                headers.add(new RecordHeader(name, header.isNullAt(1) ? null : header.getBinary(1)));
            }
        }
    }

    @Override
    public WriterCommitMessage commit() {
        sender.commit();
        if (acknowledgements != null) {
            acknowledgements.throwFailure();
        }
        return new Written(records, sender.result());
    }

    /** The number of records that the writers of a batch have written, from the messages of their commits. */
    public static long records(WriterCommitMessage[] messages) {
        long sum = 0;
        for (WriterCommitMessage message : messages) {
            sum += message instanceof Written written ? written.records : 0;
        }
        return sum;
    }

    /** The reports of tasks in other JVMs, from the messages of their commits. */
    public static List<TaskResult> tasks(WriterCommitMessage[] messages) {
        return Stream.of(messages)
                .map(message -> message instanceof Written written ? written.task : null)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Records that were sent stay sent: the batch, or the task, is written again. */
    @Override
    public void abort() {
        sender.abort();
    }

    @Override
    public void close() {
        sender.close();
    }
}
