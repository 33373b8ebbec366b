package com.lsqlrunner.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads records by their offsets, without joining a consumer group. Its buffers are small, because the heap may be. */
final class OffsetRangeReader implements AutoCloseable {
    /** A line ends with the record with which its keys and values reach this size; each line costs a round trip. */
    private static final long LINE_BYTES = 256 << 10;

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Duration timeout;
    private long left;

    /** The offsets from {@code start} inclusive to {@code end} exclusive. */
    record OffsetRange(long start, long end) {}

    OffsetRangeReader(Map<String, Object> settings, int timeoutMs) {
        Map<String, Object> own = new HashMap<>(settings);
        own.put("enable.auto.commit", false);
        own.put("auto.offset.reset", "none");
        own.put("allow.auto.create.topics", false);
        own.put("isolation.level", "read_committed");
        own.put("fetch.max.bytes", 4 << 20);
        own.put("max.partition.fetch.bytes", 256 << 10);
        own.put("max.poll.records", 100);
        own.put("fetch.max.wait.ms", 50);
        timeout = Duration.ofMillis(timeoutMs);
        try {
            consumer = new KafkaConsumer<>(own, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        } catch (RuntimeException error) {
            throw new BrokerError.ClientCreationException(error);
        }
    }

    /**
     * Writes the records of the ranges. Stops after the record with which the size of keys and values reaches
     * {@code mostBytes}. Offsets that are deleted or not yet written are skipped.
     */
    void read(Map<TopicPartition, OffsetRange> ranges, long mostBytes, ResponseWriter responses)
            throws IOException, InterruptedException {
        left = mostBytes;
        Map<TopicPartition, Long> ends = assign(ranges);
        long deadline = System.nanoTime() + timeout.toNanos();
        while (true) {
            ends.entrySet().removeIf(end -> consumer.position(end.getKey()) >= end.getValue());
            if (ends.isEmpty() || left <= 0) {
                return;
            }
            consumer.pause(finished(ends.keySet()));
            if (writeNext(ends, responses)) {
                deadline = System.nanoTime() + timeout.toNanos();
            } else if (System.nanoTime() > deadline) {
                throw new TimeoutException("no record arrived");
            }
        }
    }

    /**
     * Positions the consumer at the start of each range. Returns the end of each range, limited to the offsets that
     * exist.
     */
    private Map<TopicPartition, Long> assign(Map<TopicPartition, OffsetRange> ranges) {
        Map<TopicPartition, Long> starts = consumer.beginningOffsets(ranges.keySet(), timeout);
        Map<TopicPartition, Long> ends = new HashMap<>();
        consumer.endOffsets(ranges.keySet(), timeout).forEach((partition, end) -> {
            OffsetRange range = ranges.get(partition);
            if (Math.max(range.start(), starts.get(partition)) < Math.min(range.end(), end)) {
                ends.put(partition, Math.min(range.end(), end));
            }
        });
        consumer.assign(ends.keySet());
        ends.keySet()
                .forEach(partition ->
                        consumer.seek(partition, Math.max(ranges.get(partition).start(), starts.get(partition))));
        return ends;
    }

    private Set<TopicPartition> finished(Set<TopicPartition> unfinished) {
        Set<TopicPartition> all = new HashSet<>(consumer.assignment());
        all.removeAll(unfinished);
        return all;
    }

    /** Writes the records of one poll. Returns whether there were any. */
    private boolean writeNext(Map<TopicPartition, Long> ends, ResponseWriter responses)
            throws IOException, InterruptedException {
        ConsumerRecords<byte[], byte[]> records;
        try {
            records = consumer.poll(Duration.ofMillis(200));
        } catch (OffsetOutOfRangeException error) { // retention has deleted the offsets
            error.offsetOutOfRangePartitions().keySet().forEach(ends::remove);
            return true;
        }
        List<ConsumerRecord<byte[], byte[]>> line = new ArrayList<>();
        long lineBytes = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            Long end = ends.get(new TopicPartition(record.topic(), record.partition()));
            if (end != null && record.offset() < end && left > 0) {
                line.add(record);
                int bytes = Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
                left -= bytes;
                lineBytes += bytes;
                if (lineBytes >= LINE_BYTES) {
                    responses.records(line);
                    line = new ArrayList<>();
                    lineBytes = 0;
                }
            }
        }
        if (!line.isEmpty()) {
            responses.records(line);
        }
        return !records.isEmpty();
    }

    @Override
    public void close() {
        consumer.close(Duration.ZERO);
    }
}
