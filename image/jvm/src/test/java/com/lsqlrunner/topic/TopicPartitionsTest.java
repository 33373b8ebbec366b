package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.Test;

/** The ranges between known positions; tests/kafka/test_topic_reader.py has the requests. */
class TopicPartitionsTest {
    private static final TopicPartition FIRST = new TopicPartition("t", 0);
    private static final TopicPartition SECOND = new TopicPartition("t", 1);

    private static List<OffsetRange> ranges(
            boolean failOnDataLoss, Map<TopicPartition, Long> from, Map<TopicPartition, Long> until) {
        Map<String, String> options = Map.of("subscribe", "t", "failOnDataLoss", Boolean.toString(failOnDataLoss));
        try (TopicPartitions topic = new TopicPartitions(new CaseInsensitiveStringMap(options))) {
            return topic.ranges(from, until);
        }
    }

    @Test
    void aPartitionWithoutNewRecordsHasNoRange() {
        assertEquals(
                List.of(new OffsetRange(FIRST, 2, 5)),
                ranges(true, Map.of(FIRST, 2L, SECOND, 3L), Map.of(FIRST, 5L, SECOND, 3L)));
    }

    @Test
    void aPositionAfterTheEndIsMissing() {
        LsqlException error =
                assertThrows(LsqlException.class, () -> ranges(true, Map.of(FIRST, 6L), Map.of(FIRST, 5L)));

        assertEquals(Condition.LSQL_OFFSET_MISSING.name(), error.getCondition());
        assertEquals(Map.of("topic", "t", "partition", "0", "offset", "6"), error.getMessageParameters());
    }

    @Test
    void thePositionOfADeletedPartitionIsMissing() {
        assertThrows(LsqlException.class, () -> ranges(true, Map.of(FIRST, 5L, SECOND, 0L), Map.of(FIRST, 5L)));
    }

    @Test
    void missingPositionsAreSkippedIfRecordsMayBeLost() {
        assertEquals(List.of(), ranges(false, Map.of(FIRST, 6L, SECOND, 1L), Map.of(FIRST, 5L)));
    }
}
