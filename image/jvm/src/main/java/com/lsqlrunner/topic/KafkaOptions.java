package com.lsqlrunner.topic;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;

/** The settings of a Kafka client among the options of a source or sink. */
public final class KafkaOptions {
    private static final String PREFIX = "kafka.";

    private KafkaOptions() {}

    /** The settings of a consumer that has no group and fails at an offset that does not exist. */
    public static Map<String, Object> ofConsumerWithoutGroup(Map<String, String> options) {
        Map<String, Object> settings = new HashMap<>(of(options));
        settings.remove(ConsumerConfig.GROUP_ID_CONFIG);
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        return settings;
    }

    /** The options with the prefix {@code kafka.}, without the prefix. */
    public static Map<String, String> of(Map<String, String> options) {
        Map<String, String> settings = new HashMap<>();
        options.forEach((key, value) -> {
            if (key.startsWith(PREFIX)) {
                settings.put(key.substring(PREFIX.length()), value);
            }
        });
        return settings;
    }
}
