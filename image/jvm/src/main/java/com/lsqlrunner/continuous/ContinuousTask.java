package com.lsqlrunner.continuous;

import com.lsqlrunner.delivery.RecordSender;
import com.lsqlrunner.topic.Acknowledgements;
import com.lsqlrunner.topic.FailedRecord;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The progress of one task of a continuous query. The task divides its records into intervals; the positions at the end
 * of an interval may be saved when the brokers have acknowledged the records of this interval and of all earlier ones.
 *
 * <p>The task's thread calls all methods except {@link #takeWritten} and {@link #polled()}.
 */
final class ContinuousTask extends Acknowledgements {
    private final ConcurrentLinkedQueue<Interval> ended = new ConcurrentLinkedQueue<>();
    private Interval current = new Interval();
    private RecordSender sender;

    /** The next offsets after the records that the consumer has returned to the task. */
    private volatile Map<TopicPartition, Long> polled = Map.of();

    @Override
    public void writesWith(RecordSender ofTask) {
        sender = ofTask;
    }

    /** Keeps the positions after records that the task will send next. */
    void polled(ConsumerRecords<byte[], byte[]> records) {
        if (!records.isEmpty()) {
            Map<TopicPartition, Long> positions = new HashMap<>(polled);
            for (TopicPartition partition : records.partitions()) {
                List<ConsumerRecord<byte[], byte[]>> ofPartition = records.records(partition);
                positions.put(partition, ofPartition.get(ofPartition.size() - 1).offset() + 1);
            }
            polled = positions;
        }
    }

    /** The positions after the records that the consumer has returned to the task. Another thread calls this method. */
    Map<TopicPartition, Long> polled() {
        return polled;
    }

    /** Counts a record that the task has read. */
    void read() {
        current.read++;
    }

    @Override
    public Callback sending() {
        current.sent++;
        return current;
    }

    @Override
    public void failed(FailedRecord record) {
        current.failed.merge(record.countName(), 1L, Long::sum);
    }

    /** Commits the records of the interval. */
    void commit() {
        if (sender != null) {
            sender.commitTransaction();
        }
    }

    /** Ends the interval. All records before the positions have been passed to the producer. */
    void endInterval(Map<TopicPartition, Long> positions) {
        current.positions = Map.copyOf(positions);
        ended.add(current);
        current = new Interval();
    }

    /** Adds the intervals that were written since the last call. Another thread calls this method. */
    void takeWritten(Written written) {
        for (Interval next = ended.peek(); next != null && next.isWritten(); next = ended.peek()) {
            written.add(next.positions, next.read, next.sent, next.failed);
            ended.remove();
        }
    }

    /** The total of several intervals, and the positions after them. */
    static final class Written {
        final Map<TopicPartition, Long> positions = new HashMap<>();
        final Map<String, Long> failed = new HashMap<>();
        long recordsIn;
        long recordsOut;

        void add(Map<TopicPartition, Long> after, long read, long sent, Map<String, Long> failures) {
            positions.putAll(after);
            recordsIn += read;
            recordsOut += sent;
            failures.forEach((name, count) -> failed.merge(name, count, Long::sum));
        }
    }

    /** The records between two positions. The producer's thread counts acknowledgements. */
    private final class Interval implements Callback {
        private final AtomicLong acknowledged = new AtomicLong();
        private final Map<String, Long> failed = new HashMap<>();
        private long read;
        private long sent;
        private Map<TopicPartition, Long> positions;

        @Override
        public void onCompletion(RecordMetadata metadata, Exception error) {
            if (error == null) {
                acknowledged.incrementAndGet();
            } else {
                notWritten(error);
            }
        }

        private boolean isWritten() {
            return acknowledged.get() == sent;
        }
    }
}
