package com.lsqlrunner.batch;

import com.lsqlrunner.marks.ReadMark;
import com.lsqlrunner.topic.KafkaOptions;
import com.lsqlrunner.topic.MarkedReader;
import com.lsqlrunner.topic.OffsetRange;
import com.lsqlrunner.topic.RangeConsumer;
import com.lsqlrunner.topic.RecordRow;
import com.lsqlrunner.topic.TopicConsumer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Reads the ranges of one task as rows. */
final class RangeReader implements PartitionReader<InternalRow> {
    private final Task task;
    private final RangeConsumer consumer;
    private final RecordRow row = new RecordRow();
    private boolean isFinished;

    private RangeReader(Task task) {
        this.task = task;
        this.consumer = task.stream == null
                ? open(task)
                : RangeConsumers.of(task.stream).take(task.name, () -> open(task));
        consumer.begin(task.ranges, task.failOnDataLoss, Duration.ofMillis(task.pollTimeoutMs));
    }

    private static RangeConsumer open(Task task) {
        return new RangeConsumer(task.open(task.consumer));
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
        if (isFinished && task.stream != null) {
            RangeConsumers.of(task.stream).release(task.name, consumer);
        } else {
            consumer.close();
        }
    }

    /** Reads the ranges of a task with marks. */
    private static final class Marked implements PartitionReader<InternalRow> {
        private final MarkedReader reader;
        private final RecordRow row = new RecordRow();

        Marked(Task task) {
            reader = new MarkedReader(
                    task.open(MarkedReader.settings(task.consumer)),
                    ReadMark.at(task.mark, task.stream),
                    task.ranges,
                    task.failOnDataLoss,
                    Duration.ofMillis(task.pollTimeoutMs));
        }

        @Override
        public boolean next() {
            ConsumerRecord<byte[], byte[]> record = reader.next();
            if (record != null) {
                row.set(record);
            }
            return record != null;
        }

        @Override
        public InternalRow get() {
            return row;
        }

        @Override
        public void close() {
            reader.close();
        }
    }

    /**
     * The ranges that one task reads.
     *
     * @param stream unique in the JVM; null if no later task continues with the consumer
     * @param name unique among the tasks of a batch
     * @param topicId of their topic, as in {@link TopicConsumer}
     * @param consumer settings of the consumer
     * @param mark the place of marks, as in {@link ReadMark#at}; null to read without them
     * @param location the worker that reads the first range; null without workers
     */
    record Task(
            String stream,
            String name,
            List<OffsetRange> ranges,
            String topicId,
            Map<String, Object> consumer,
            long pollTimeoutMs,
            boolean failOnDataLoss,
            String mark,
            String location)
            implements InputPartition {
        private static final long serialVersionUID = 1L;

        /** A task with the options of its source. */
        static Task of(
                CaseInsensitiveStringMap options,
                String stream,
                String name,
                List<OffsetRange> ranges,
                String mark,
                String location) {
            return new Task(
                    stream,
                    name,
                    ranges,
                    options.getOrDefault("topic.id", ""),
                    KafkaOptions.ofConsumerWithoutGroup(options.asCaseSensitiveMap()),
                    1000 * SparkEnv.get().conf().getTimeAsSeconds("spark.network.timeout", "120s"),
                    options.getBoolean("failOnDataLoss", true),
                    mark,
                    location);
        }

        private TopicConsumer open(Map<String, Object> settings) {
            return new TopicConsumer(settings, ranges.get(0).partition().topic(), topicId);
        }

        /** The executor with the consumer of the previous batch, and with its producer. */
        @Override
        public String[] preferredLocations() {
            return location == null ? new String[0] : new String[] {location};
        }

        /** Without the settings of the consumer, which have credentials. */
        @Override
        public String toString() {
            return "Task[name=" + name + ", ranges=" + ranges + "]";
        }
    }

    /** Creates the readers of tasks. */
    static final class Factory implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            Task task = (Task) partition;
            return task.mark == null ? new RangeReader(task) : new Marked(task);
        }
    }
}
