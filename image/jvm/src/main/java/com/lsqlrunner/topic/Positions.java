package com.lsqlrunner.topic;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.delivery.OffsetsByTopic;
import com.lsqlrunner.errors.Unchecked;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** Positions by partition, as an offset of Spark's streams. Its JSON is the one of Spark's Kafka source. */
public final class Positions extends Offset {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Map<TopicPartition, Long> byPartition;
    private final String json;

    public Positions(Map<TopicPartition, Long> byPartition) {
        this.byPartition = Map.copyOf(byPartition);
        try {
            this.json = JSON.writeValueAsString(OffsetsByTopic.of(byPartition));
        } catch (JsonProcessingException impossible) {
            throw Unchecked.thrown(impossible);
        }
    }

    /** Reads positions from their JSON. */
    public static Positions parse(String json) {
        try {
            return new Positions(OffsetsByTopic.byPartition(JSON.readValue(json, new TypeReference<>() {})));
        } catch (JsonProcessingException malformed) {
            throw Unchecked.thrown(malformed);
        }
    }

    /** The positions of an offset; empty for other offsets, and before the first one. */
    public static Map<TopicPartition, Long> of(Offset offset) {
        return offset instanceof Positions positions ? new HashMap<>(positions.byPartition) : Map.of();
    }

    @Override
    public String json() {
        return json;
    }
}
