package com.lsqlrunner.topic;

import java.util.HashMap;
import java.util.Map;

/** The settings of a Kafka client among the options of a source or sink. */
final class KafkaOptions {
    private static final String PREFIX = "kafka.";

    private KafkaOptions() {}

    /** The options with the prefix {@code kafka.}, without the prefix. */
    static Map<String, String> of(Map<String, String> options) {
        Map<String, String> settings = new HashMap<>();
        options.forEach((key, value) -> {
            if (key.startsWith(PREFIX)) {
                settings.put(key.substring(PREFIX.length()), value);
            }
        });
        return settings;
    }
}
