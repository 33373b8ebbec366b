package com.lsqlrunner.topic;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/** Reads the ranges of one task as rows. */
final class RangeReader implements PartitionReader<InternalRow> {
    private final Task task;
    private final RangeConsumer consumer;
    private final RecordRow row = new RecordRow();
    private boolean isFinished;

    private RangeReader(Task task) {
        this.task = task;
        this.consumer = RangeConsumers.of(task.stream).take(task.name, () -> open(task.consumer));
        consumer.begin(task.ranges, task.failOnDataLoss, Duration.ofMillis(task.pollTimeoutMs));
    }

    private static RangeConsumer open(Map<String, Object> settings) {
        return new RangeConsumer(new KafkaConsumer<>(settings));
    }

    @Override
    public boolean next() {
        ConsumerRecord<byte[], byte[]> record = consumer.next();
        isFinished = record == null;
        if (!isFinished) {
            row.set(record);
        }
        return !isFinished;
    }

    @Override
    public InternalRow get() {
        return row;
    }

    @Override
    public void close() {
        if (isFinished) {
            RangeConsumers.of(task.stream).release(task.name, consumer);
        } else {
            consumer.close();
        }
    }

    /**
     * The ranges that one task reads.
     *
     * @param stream unique in the JVM
     * @param name unique among the tasks of a batch
     * @param consumer settings of the consumer
     */
    record Task(
            String stream,
            String name,
            List<OffsetRange> ranges,
            Map<String, Object> consumer,
            long pollTimeoutMs,
            boolean failOnDataLoss)
            implements InputPartition {
        private static final long serialVersionUID = 1L;
    }

    /** Creates the readers of tasks. */
    static final class Factory implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return new RangeReader((Task) partition);
        }
    }
}
