package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Where tasks find the records that an earlier process has written.
 *
 * @param replay which of them count
 * @param until the ends of the targets when the producers of that process were fenced
 * @param hasAborted whether only committed records count
 * @param returned where in the targets, before the offsets at which a search begins, records are of INSERTs that were
 *     removed and came back
 */
record EarlierRecords(
        Replay replay, Map<TopicPartition, Long> until, boolean hasAborted, Map<TopicPartition, TargetRange> returned)
        implements Serializable {
    private static final long serialVersionUID = 1L;
}
