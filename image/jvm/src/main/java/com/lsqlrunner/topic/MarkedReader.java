package com.lsqlrunner.topic;

import com.lsqlrunner.marks.ReadMark;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Reads ranges of offsets one after the other, one record at a time, with a {@link ReadMark} on the record that is read
 * and processed. It reads the first records after a start, if the JVM ran out of memory before.
 */
public final class MarkedReader implements AutoCloseable {
    private final RangeConsumer consumer;
    private final ReadMark mark;
    private final Deque<OffsetRange> unfinished;
    private final boolean failOnDataLoss;
    private final Duration pollTimeout;
    private final Map<TopicPartition, Long> positions = new HashMap<>();
    private boolean hasBegun;

    /**
     * @param kafka with {@link #settings}
     * @param mark closed with the reader
     * @param failOnDataLoss whether missing records are an error; if not, reading continues after them
     * @param pollTimeout the longest wait for a record
     */
    public MarkedReader(
            Consumer<byte[], byte[]> kafka,
            ReadMark mark,
            Collection<OffsetRange> ranges,
            boolean failOnDataLoss,
            Duration pollTimeout) {
        this.consumer = new RangeConsumer(kafka, mark);
        this.mark = mark;
        this.unfinished = new ArrayDeque<>(ranges);
        this.failOnDataLoss = failOnDataLoss;
        this.pollTimeout = pollTimeout;
        ranges.forEach(range -> positions.put(range.partition(), range.from()));
    }

    /** The settings of a consumer of single records. */
    public static Map<String, Object> settings(Map<String, Object> ofSource) {
        Map<String, Object> settings = new HashMap<>(ofSource);
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1);
        settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 5);
        return settings;
    }

    /**
     * The next record; null after the last one. The caller has processed the previous record.
     *
     * @throws org.apache.kafka.common.errors.TimeoutException if there is none within the time limit; it may be called
     *     again
     */
    public ConsumerRecord<byte[], byte[]> next() {
        mark.clear();
        ConsumerRecord<byte[], byte[]> record = null;
        try {
            while (record == null && !unfinished.isEmpty()) {
                record = nextOfRange(unfinished.getFirst());
            }
            return record;
        } finally {
            if (record == null) {
                mark.clear();
            }
        }
    }

    private ConsumerRecord<byte[], byte[]> nextOfRange(OffsetRange range) {
        if (!hasBegun) {
            hasBegun = true;
            consumer.begin(List.of(range), failOnDataLoss, pollTimeout);
        }
        ConsumerRecord<byte[], byte[]> record = consumer.next();
        if (record == null) {
            positions.put(range.partition(), range.until());
            unfinished.removeFirst();
            hasBegun = false;
        } else {
            positions.put(range.partition(), record.offset() + 1);
        }
        return record;
    }

    /** The offsets after the records that were returned. */
    public Map<TopicPartition, Long> positions() {
        return Map.copyOf(positions);
    }

    @Override
    public void close() {
        mark.close();
        consumer.close();
    }
}
