package com.lsqlrunner.topic;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Partitions that end before the position: their last records were lost, for example by an unclean election of a
 * leader. The query fails even if records may be lost: the next records get the offsets of lost records, and their
 * results get identities of written records, so the next start has to begin another run.
 */
public final class ShorterTopic {
    private ShorterTopic() {}

    /**
     * Checks that no partition ends before the position.
     *
     * @param positions by partition
     * @param ends by partition; others are not checked
     */
    public static void check(Map<TopicPartition, Long> positions, Map<TopicPartition, Long> ends) {
        positions.forEach((partition, position) -> {
            Long end = ends.get(partition);
            if (end != null && end < position) {
                throw new LsqlException(
                        Condition.LSQL_TOPIC_SHORTER,
                        Map.of(
                                "topic", partition.topic(),
                                "partition", Integer.toString(partition.partition()),
                                "position", position.toString(),
                                "end", end.toString()));
            }
        });
    }
}
