package com.lsqlrunner.delivery;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/** The form of offsets in JSON: by topic and number of the partition, {@code {"topic": {"0": 123}}}. */
public final class OffsetsByTopic {
    private OffsetsByTopic() {}

    public static Map<String, Map<Integer, Long>> of(Map<TopicPartition, Long> offsets) {
        Map<String, Map<Integer, Long>> byTopic = new TreeMap<>();
        offsets.forEach((partition, offset) -> byTopic.computeIfAbsent(partition.topic(), topic -> new TreeMap<>())
                .put(partition.partition(), offset));
        return byTopic;
    }

    public static Map<TopicPartition, Long> byPartition(Map<String, Map<Integer, Long>> byTopic) {
        Map<TopicPartition, Long> byPartition = new HashMap<>();
        byTopic.forEach((topic, offsets) ->
                offsets.forEach((partition, offset) -> byPartition.put(new TopicPartition(topic, partition), offset)));
        return byPartition;
    }
}
