package com.lsqlrunner.batch;

import com.lsqlrunner.topic.KafkaOptions;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * A consumer that only waits for records: the broker answers a fetch when there is a record, with as few bytes as
 * possible.
 *
 * <p>The first record pauses all partitions. Before Kafka's consumer returns records, it requests the next records of
 * all other partitions. If these partitions have no records, the broker holds this request for
 * {@code fetch.max.wait.ms}, and meanwhile the consumer sends this broker no other request.
 */
final class WaitingConsumer {
    private static final int DEFAULT_REQUEST_TIMEOUT_MS = 30_000;

    private WaitingConsumer() {}

    /** @param options of {@code TopicSource}; those with the prefix {@code kafka.} are the consumer's */
    static Consumer<byte[], byte[]> open(Map<String, String> options) {
        Arrival arrival = new Arrival();
        arrival.consumer = new KafkaConsumer<>(settings(options), arrival, arrival);
        return arrival.consumer;
    }

    /**
     * Whether a consumer that has returned a record may have requested the next ones: a record without key and value is
     * not deserialized.
     */
    static boolean mayHaveRequestedMore(Consumer<byte[], byte[]> consumer) {
        return !consumer.paused().containsAll(consumer.assignment());
    }

    /** Pauses the consumer while it reads a record: the only moment before it requests the next ones. */
    private static final class Arrival implements Deserializer<byte[]> {
        private final Deserializer<byte[]> bytes = new ByteArrayDeserializer();
        private Consumer<byte[], byte[]> consumer;

        @Override
        public byte[] deserialize(String topic, byte[] data) {
            consumer.pause(consumer.assignment());
            return bytes.deserialize(topic, data);
        }
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
