package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class PositionsTest {
    /** Checkpoints of earlier versions have the JSON of Spark's Kafka source. */
    private static final String OF_SPARK = "{\"a\":{\"0\":7,\"10\":8,\"2\":9},\"b\":{\"0\":1}}";

    @Test
    void readsTheJsonOfSparksSource() {
        assertEquals(
                Map.of(
                        new TopicPartition("a", 0), 7L,
                        new TopicPartition("a", 2), 9L,
                        new TopicPartition("a", 10), 8L,
                        new TopicPartition("b", 0), 1L),
                Positions.of(Positions.parse(OF_SPARK)));
    }

    @Test
    void equalPositionsHaveEqualJson() {
        assertEquals(Positions.parse(OF_SPARK), new Positions(Positions.of(Positions.parse(OF_SPARK))));
    }

    @Test
    void thereAreNoPositionsBeforeTheFirstOffset() {
        assertEquals(Map.of(), Positions.of(null));
    }
}
