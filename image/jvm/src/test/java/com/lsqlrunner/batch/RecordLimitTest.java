package com.lsqlrunner.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RecordLimitTest {
    private static final TopicPartition FIRST = new TopicPartition("t", 0);
    private static final TopicPartition SECOND = new TopicPartition("t", 1);

    @Test
    void aBatchWithFewerRecordsHasAllOfThem() {
        assertEquals(
                Map.of(FIRST, 15L, SECOND, 5L),
                RecordLimit.ends(10, Map.of(FIRST, 10L, SECOND, 0L), Map.of(FIRST, 15L, SECOND, 5L)));
    }

    @Test
    void recordsAreDividedInProportionToWhatPartitionsHave() {
        assertEquals(
                Map.of(FIRST, 13L, SECOND, 1L),
                RecordLimit.ends(4, Map.of(FIRST, 10L, SECOND, 0L), Map.of(FIRST, 40L, SECOND, 10L)));
    }

    @Test
    void aSmallPartitionIsReadBesideALargeOne() {
        assertEquals(
                Map.of(FIRST, 9L, SECOND, 1L),
                RecordLimit.ends(10, Map.of(FIRST, 0L, SECOND, 0L), Map.of(FIRST, 1_000L, SECOND, 2L)));
    }

    @Test
    void aPartitionThatEndsBeforeItsPositionKeepsItsEnd() {
        assertEquals(
                Map.of(FIRST, 2L, SECOND, 3L),
                RecordLimit.ends(2, Map.of(FIRST, 0L, SECOND, 5L), Map.of(FIRST, 10L, SECOND, 3L)));
    }
}
