package com.lsqlrunner.topic;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * The progress of one task of a continuous query. The task divides its records into intervals; the positions at the end
 * of an interval may be saved when the brokers have acknowledged all its records and those of the intervals before it.
 *
 * <p>The task's thread calls all methods except {@link #takeWritten}.
 */
final class ContinuousTask extends Acknowledgements {
    private final ConcurrentLinkedQueue<Interval> ended = new ConcurrentLinkedQueue<>();
    private Interval current = new Interval();

    /** Counts a record that the task has read. */
    void read() {
        current.read++;
    }

    @Override
    Callback sending() {
        current.sent++;
        return current;
    }

    @Override
    void failed(FailedRecord record) {
        current.failed.merge(record.countName(), 1L, Long::sum);
    }

    /** Ends the interval. All records before the positions have been passed to the producer. */
    void endInterval(Map<TopicPartition, Long> positions) {
        current.positions = Map.copyOf(positions);
        ended.add(current);
        current = new Interval();
    }

    /** Adds the intervals that are written since the last call. Another thread calls it. */
    void takeWritten(Written written) {
        for (Interval next = ended.peek(); next != null && next.isWritten(); next = ended.peek()) {
            written.add(next.positions, next.read, next.sent, next.failed);
            ended.remove();
        }
    }

    /** The sum of some intervals, and the positions after them. */
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
