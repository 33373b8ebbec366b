package com.lsqlrunner.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads records by their places, without joining any group. Its buffers are small: so is the heap. */
final class SpanReader implements AutoCloseable {
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Duration patience;

    /** Offsets from {@code start} to before {@code end}. */
    record Span(long start, long end) {}

    SpanReader(Map<String, Object> settings, int answerMs) {
        Map<String, Object> own = new HashMap<>(settings);
        own.put("enable.auto.commit", false);
        own.put("auto.offset.reset", "none");
        own.put("allow.auto.create.topics", false);
        own.put("isolation.level", "read_committed");
        own.put("fetch.max.bytes", 4 << 20);
        own.put("max.partition.fetch.bytes", 256 << 10);
        own.put("max.poll.records", 100);
        own.put("fetch.max.wait.ms", 50);
        patience = Duration.ofMillis(answerMs);
        try {
            consumer = new KafkaConsumer<>(own, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        } catch (RuntimeException error) {
            throw new BrokerError.ClientNotMade(error);
        }
    }

    /** Tells every record of the spans; offsets that the brokers do not hold, or not yet, are passed over. */
    void read(Map<TopicPartition, Span> spans, AnswerWriter answers) throws IOException {
        Map<TopicPartition, Long> ends = assigned(spans);
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            ends.entrySet().removeIf(left -> consumer.position(left.getKey()) >= left.getValue());
            if (ends.isEmpty()) {
                return;
            }
            consumer.pause(finished(ends.keySet()));
            if (tell(ends, answers)) {
                deadline = System.nanoTime() + patience.toNanos();
            } else if (System.nanoTime() > deadline) {
                throw new TimeoutException("no record came");
            }
        }
    }

    /** Stands the consumer at the start of each span; where each ends, as far as the brokers hold it. */
    private Map<TopicPartition, Long> assigned(Map<TopicPartition, Span> spans) {
        Map<TopicPartition, Long> begins = consumer.beginningOffsets(spans.keySet(), patience);
        Map<TopicPartition, Long> ends = new HashMap<>();
        consumer.endOffsets(spans.keySet(), patience).forEach((place, end) -> {
            Span span = spans.get(place);
            if (Math.max(span.start(), begins.get(place)) < Math.min(span.end(), end)) {
                ends.put(place, Math.min(span.end(), end));
            }
        });
        consumer.assign(ends.keySet());
        ends.keySet()
                .forEach(place -> consumer.seek(place, Math.max(spans.get(place).start(), begins.get(place))));
        return ends;
    }

    private Set<TopicPartition> finished(Set<TopicPartition> unfinished) {
        Set<TopicPartition> all = new HashSet<>(consumer.assignment());
        all.removeAll(unfinished);
        return all;
    }

    /** Tells what one poll brings; whether it brought something. */
    private boolean tell(Map<TopicPartition, Long> ends, AnswerWriter answers) throws IOException {
        ConsumerRecords<byte[], byte[]> records;
        try {
            records = consumer.poll(Duration.ofMillis(200));
        } catch (OffsetOutOfRangeException gone) { // retention was quicker
            gone.offsetOutOfRangePartitions().keySet().forEach(ends::remove);
            return true;
        }
        for (ConsumerRecord<byte[], byte[]> record : records) {
            Long end = ends.get(new TopicPartition(record.topic(), record.partition()));
            if (end != null && record.offset() < end) {
                answers.record(record);
            }
        }
        return !records.isEmpty();
    }

    @Override
    public void close() {
        consumer.close(Duration.ZERO);
    }
}
