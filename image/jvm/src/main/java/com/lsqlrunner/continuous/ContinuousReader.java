package com.lsqlrunner.continuous;

import com.lsqlrunner.topic.MarkedReader;
import com.lsqlrunner.topic.RecordRow;
import com.lsqlrunner.topic.ShorterTopic;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;

/**
 * Reads some partitions of a topic until its query is stopped. Spark calls {@link #next} when the rows of the previous
 * record have passed through the whole task. At that moment, the producer has all records before the positions.
 */
final class ContinuousReader implements PartitionReader<InternalRow> {
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final Duration interval;
    private final ContinuousTopic topic;
    private final int number;
    private final ContinuousTask task;
    private final Consumer<byte[], byte[]> consumer;
    /** Reads the first records with marks; null after these records. */
    private MarkedReader marked;

    private final RecordRow row = new RecordRow();
    private Iterator<ConsumerRecord<byte[], byte[]>> records =
            List.<ConsumerRecord<byte[], byte[]>>of().iterator();
    private Map<TopicPartition, Long> intervalEnd = Map.of();
    private Map<TopicPartition, Long> assigned = Map.of();
    private long intervalNanos = System.nanoTime();
    private boolean hasRead;

    /**
     * @param number the number of the task in its scan
     * @param marked reads the first records; null if the consumer does
     */
    ContinuousReader(
            ContinuousTopic topic,
            int number,
            ContinuousTask task,
            Consumer<byte[], byte[]> consumer,
            MarkedReader marked) {
        this.topic = topic;
        this.interval = topic.interval();
        this.number = number;
        this.task = task;
        this.consumer = consumer;
        this.marked = marked;
    }

    @Override
    public boolean next() {
        while (!records.hasNext()) {
            task.throwFailure();
            endInterval();
            if (topic.isStopping()) {
                return false;
            }
            if (marked != null) {
                readMarked();
            } else {
                assign();
                poll();
            }
        }
        row.set(records.next());
        task.read();
        return true;
    }

    @Override
    public InternalRow get() {
        return row;
    }

    private void endInterval() {
        long now = System.nanoTime();
        boolean isDue = now - intervalNanos >= interval.toNanos() || topic.isStopping();
        if (!isDue || (assigned.isEmpty() && marked == null)) {
            return;
        }
        task.commit();
        Map<TopicPartition, Long> reached = positions();
        if (reached == null) {
            return; // nothing has been read since
        }
        if (!reached.equals(intervalEnd)) {
            task.endInterval(reached);
            intervalEnd = reached;
        }
        intervalNanos = now;
        hasRead = false;
    }

    /** The positions of the consumer; null if they are not known yet. */
    private Map<TopicPartition, Long> positions() {
        if (marked != null) {
            return marked.positions();
        }
        Map<TopicPartition, Long> positions = new HashMap<>();
        try {
            assigned.keySet().forEach(partition -> positions.put(partition, consumer.position(partition)));
            return positions;
        } catch (WakeupException wake) {
            return null;
        }
    }

    /** Takes the partitions of this task, at its start and when partitions were added. */
    private void assign() {
        Map<TopicPartition, Long> all = topic.partitionsOf(number);
        if (all == assigned) {
            return;
        }
        Set<TopicPartition> added = new HashSet<>(all.keySet());
        added.removeAll(assigned.keySet());
        consumer.assign(all.keySet());
        added.forEach(partition -> consumer.seek(partition, all.get(partition)));
        assigned = all;
    }

    /** Reads a record with a mark. After the last one, the consumer continues. */
    private void readMarked() {
        try {
            ConsumerRecord<byte[], byte[]> record = marked.next();
            if (record == null) {
                continueAfterMarked();
                return;
            }
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            take(new ConsumerRecords<>(Map.of(partition, List.of(record))));
        } catch (TimeoutException none) {
            // The interval ends; the records of an open transaction, for example, come later.
        }
    }

    private void continueAfterMarked() {
        Map<TopicPartition, Long> reached = marked.positions();
        marked.close();
        marked = null;
        assign();
        reached.forEach(consumer::seek);
    }

    private void poll() {
        try {
            take(consumer.poll(hasRead ? interval : MAX_WAIT));
        } catch (WakeupException wake) {
            // The query is stopped, or the topic has more partitions.
        } catch (OffsetOutOfRangeException missing) {
            if (topic.failsOnDataLoss()) {
                throw missing;
            }
            skip(missing.offsetOutOfRangePartitions());
        }
    }

    /** Continues at the first record. */
    private void skip(Map<TopicPartition, Long> positions) {
        try {
            Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(positions.keySet());
            ShorterTopic.check(positions, consumer.endOffsets(positions.keySet()));
            positions.forEach(
                    (partition, position) -> consumer.seek(partition, Math.max(beginnings.get(partition), position)));
        } catch (WakeupException wake) {
            // The next poll finds the gap again.
        }
    }

    private void take(ConsumerRecords<byte[], byte[]> polledRecords) {
        if (topic.isTransactional()) {
            task.polled(polledRecords);
        }
        records = polledRecords.iterator();
        hasRead |= records.hasNext();
    }

    @Override
    public void close() {
        if (marked != null) {
            marked.close();
        }
        topic.left(consumer);
        consumer.close(Duration.ZERO);
    }
}
