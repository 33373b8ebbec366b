package com.lsqlrunner.topic;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A consumer that only waits for records: the broker answers a fetch when there is a record, with as few bytes as
 * possible.
 */
final class WaitingConsumer {
    private static final int DEFAULT_REQUEST_TIMEOUT_MS = 30_000;

    private WaitingConsumer() {}

    /** @param options of Spark's source; those with the prefix {@code kafka.} are the consumer's */
    static Consumer<byte[], byte[]> open(Map<String, String> options) {
        return new KafkaConsumer<>(settings(options), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    static Map<String, Object> settings(Map<String, String> options) {
        Map<String, Object> settings = KafkaOptions.ofConsumerWithoutGroup(options);
        int timeoutMs = Integer.parseInt(
                settings.getOrDefault(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, DEFAULT_REQUEST_TIMEOUT_MS)
                        .toString());
        long maxWaitMs = Math.min(BatchTrigger.MAX_WAIT.toMillis(), timeoutMs / 2);
        settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, (int) maxWaitMs);
        settings.put(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 1);
        settings.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, 1);
        settings.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 1);
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1);
        return settings;
    }
}
