package com.lsqlrunner.topic;

import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes the rows of one task. A commit returns when the brokers have all of them. */
final class TopicWriter implements DataWriter<InternalRow> {
    /** The header that names a record's batch: {@code <app id>/<query>/<batch id>}, UTF-8. */
    static final String BATCH_HEADER = "lsql.batch";

    private static final WriterCommitMessage WRITTEN = new WriterCommitMessage() {
        private static final long serialVersionUID = 1L;
    };
    private static final int HEADER_FIELDS = 2;

    private final Producer<byte[], byte[]> producer;
    private final RecordColumns columns;
    private final Header batch;

    /** The headers of a record that has none of its own. */
    private final RecordHeaders batchOnly = new RecordHeaders();

    private final String deadLetterTopic;
    private final Supplier<Acknowledgements> task;
    private Acknowledgements acknowledgements;
    private UTF8String lastTopic;
    private String topic;

    /**
     * @param batch the value of the batch header; null for records without it
     * @param deadLetterTopic the topic whose records keep their earlier batch headers; null for none
     * @param task called once, before the first record is written
     */
    TopicWriter(
            Producer<byte[], byte[]> producer,
            RecordColumns columns,
            byte[] batch,
            String deadLetterTopic,
            Supplier<Acknowledgements> task) {
        this.producer = producer;
        this.columns = columns;
        this.batch = batch == null ? null : new RecordHeader(BATCH_HEADER, batch);
        if (batch != null) {
            batchOnly.add(this.batch);
        }
        this.deadLetterTopic = deadLetterTopic;
        this.task = task;
    }

    @Override
    public void write(InternalRow row) {
        if (acknowledgements == null) {
            acknowledgements = task.get();
        }
        acknowledgements.throwFailure();
        if (isSkipped(row)) {
            return;
        }
        String target = topicOf(row);
        Integer partition = columns.partition() < 0 ? null : (Integer) row.getInt(columns.partition());
        byte[] key = row.isNullAt(columns.key()) ? null : row.getBinary(columns.key());
        byte[] value = row.isNullAt(columns.value()) ? null : row.getBinary(columns.value());
        RecordHeaders headers = headers(row, target);
        producer.send(
                new ProducerRecord<>(target, partition, row.getLong(columns.ts()), key, value, headers),
                acknowledgements.sending());
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

    private RecordHeaders headers(InternalRow row, String target) {
        if (row.isNullAt(columns.headers())) {
            return batchOnly;
        }
        RecordHeaders headers = new RecordHeaders();
        ArrayData own = row.getArray(columns.headers());
        boolean keepsAll = batch == null || target.equals(deadLetterTopic);
        for (int index = 0; index < own.numElements(); index++) {
            InternalRow header = own.getStruct(index, HEADER_FIELDS);
            String name = header.getUTF8String(0).toString();
            if (keepsAll || !BATCH_HEADER.equals(name)) {
                headers.add(new RecordHeader(name, header.isNullAt(1) ? null : header.getBinary(1)));
            }
        }
        if (batch != null) {
            headers.add(batch);
        }
        return headers;
    }

    @Override
    public WriterCommitMessage commit() {
        producer.flush();
        if (acknowledgements != null) {
            acknowledgements.throwFailure();
        }
        return WRITTEN;
    }

    @Override
    public void abort() {
        // What was sent stays sent: the batch is written again.
    }

    @Override
    public void close() {
        // All tasks of the query share the producer.
    }
}
