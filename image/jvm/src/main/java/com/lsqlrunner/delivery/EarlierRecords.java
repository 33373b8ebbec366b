package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Where tasks search for the records of an earlier process.
 *
 * @param replay which records count
 * @param until the ends of the targets when the producers of that process were fenced
 * @param hasAborted whether only committed records count
 * @param returned ranges of the targets, before the offsets at which a search begins, with records of INSERTs that were
 *     removed and added again
 */
record EarlierRecords(
        Replay replay, Map<TopicPartition, Long> until, boolean hasAborted, Map<TopicPartition, TargetRange> returned)
        implements Serializable {
    private static final long serialVersionUID = 1L;
}
