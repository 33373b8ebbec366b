package com.lsqlrunner.topic;

import com.lsqlrunner.marks.ReadMark;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Reads ranges of offsets of several partitions with one consumer. The consumer is kept for the next ranges: it has
 * requested the records after the current ones, and does not read records again that it has already fetched.
 */
public final class RangeConsumer implements AutoCloseable {
    private final Consumer<byte[], byte[]> consumer;
    private final ReadMark mark;
    private final Map<TopicPartition, PartitionBuffer> buffers = new HashMap<>();
    private final Deque<PartitionBuffer> unfinished = new ArrayDeque<>();
    private boolean failOnDataLoss;
    private Duration pollTimeout;

    /** @param consumer without a group, whose {@code auto.offset.reset} is {@code none} */
    public RangeConsumer(Consumer<byte[], byte[]> consumer) {
        this(consumer, null);
    }

    /** @param mark set before each poll, for ranges of one partition; null for none */
    public RangeConsumer(Consumer<byte[], byte[]> consumer, ReadMark mark) {
        this.consumer = consumer;
        this.mark = mark;
    }

    /**
     * Begins to read ranges, each of another partition.
     *
     * @param failOnLoss whether missing records are an error; if not, reading continues after them
     * @param timeout the longest wait for records
     */
    public void begin(List<OffsetRange> ranges, boolean failOnLoss, Duration timeout) {
        failOnDataLoss = failOnLoss;
        pollTimeout = timeout;
        Set<TopicPartition> partitions = new HashSet<>();
        ranges.forEach(range -> partitions.add(range.partition()));
        if (!consumer.assignment().containsAll(partitions)) {
            consumer.assign(partitions);
            buffers.keySet().retainAll(partitions);
        }
        unfinished.clear();
        for (OffsetRange range : ranges) {
            PartitionBuffer buffer = buffers.computeIfAbsent(range.partition(), PartitionBuffer::new);
            if (buffer.begin(range)) {
                consumer.seek(range.partition(), range.from());
            }
            unfinished.add(buffer);
        }
        Set<TopicPartition> others = new HashSet<>(consumer.assignment());
        others.removeAll(partitions);
        consumer.pause(others);
        consumer.resume(partitions);
    }

    /**
     * The next record of the ranges; null after the last one. Records of a partition are in their order.
     *
     * @throws OffsetOutOfRangeException if records are missing, and that is an error
     * @throws TimeoutException if there are no records within the time limit
     */
    public ConsumerRecord<byte[], byte[]> next() {
        while (true) {
            for (int tried = unfinished.size(); tried > 0; tried--) {
                PartitionBuffer buffer = unfinished.getFirst();
                ConsumerRecord<byte[], byte[]> record = buffer.next();
                if (record != null) {
                    return record;
                }
                unfinished.removeFirst();
                if (buffer.isFinished()) {
                    consumer.pause(Set.of(buffer.partition()));
                } else {
                    unfinished.addLast(buffer);
                }
            }
            if (unfinished.isEmpty()) {
                return null;
            }
            poll();
        }
    }

    /** Polls until a partition has records, or has advanced over offsets without records. */
    private void poll() {
        long deadline = System.nanoTime() + pollTimeout.toNanos();
        boolean hasAdvanced = false;
        while (!hasAdvanced) {
            Duration left = Duration.ofNanos(deadline - System.nanoTime());
            if (left.isNegative()) {
                throw new TimeoutException(
                        "no records of " + unfinished.getFirst().partition() + " from offset "
                                + unfinished.getFirst().polledUntil() + " within " + pollTimeout.toMillis() + " ms");
            }
            if (mark != null) {
                PartitionBuffer buffer = unfinished.getFirst();
                mark.set(buffer.partition(), buffer.polledUntil());
            }
            try {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(left);
                for (PartitionBuffer buffer : unfinished) {
                    long before = buffer.polledUntil();
                    buffer.polled(records.records(buffer.partition()), consumer.position(buffer.partition()));
                    hasAdvanced |= buffer.polledUntil() != before;
                }
            } catch (OffsetOutOfRangeException missing) {
                if (failOnDataLoss) {
                    throw missing;
                }
                ShorterTopic.check(
                        missing.offsetOutOfRangePartitions(),
                        consumer.endOffsets(missing.offsetOutOfRangePartitions().keySet()));
                skip(missing.offsetOutOfRangePartitions().keySet());
                hasAdvanced = true;
            }
        }
    }

    /** Continues after the missing records of partitions; after their ranges, if the partitions begin before them. */
    private void skip(Set<TopicPartition> partitions) {
        Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(partitions);
        for (PartitionBuffer buffer : new ArrayList<>(unfinished)) {
            Long beginning = beginnings.get(buffer.partition());
            if (beginning != null) {
                boolean isInRange = beginning > buffer.polledUntil() && beginning < buffer.until();
                buffer.skipTo(isInRange ? beginning : buffer.until());
                consumer.seek(buffer.partition(), buffer.polledUntil());
            }
        }
    }

    @Override
    public void close() {
        consumer.close(Duration.ZERO);
    }
}
