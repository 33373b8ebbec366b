package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.List;
import org.apache.kafka.common.TopicPartition;

/**
 * The batch that runs again, or the first one.
 *
 * @param batch its id
 * @param hasBegun whether an earlier process may have written some of its records
 * @param inserts for a query without state: its positions for each INSERT; null for a query with state
 */
public record Replay(long batch, boolean hasBegun, List<InsertPositions> inserts) implements Serializable {
    private static final long serialVersionUID = 1L;

    /**
     * Whether the batch may write a record with this identity.
     *
     * <p>Without state, a record is written once for its source record, whose identity is unique forever. With state, a
     * batch writes one record for each group or joined pair.
     *
     * @param ofBatch the batch that has written the record
     */
    boolean mayWrite(long ofBatch, long high, long low) {
        return inserts == null ? ofBatch == batch : inserts.stream().anyMatch(insert -> insert.mayWrite(high, low));
    }

    /** Without state: the source partitions that a record with this identity may come from. */
    List<TopicPartition> sources(long high, long low) {
        return inserts.stream()
                .filter(insert -> insert.mayWrite(high, low))
                .map(insert -> new TopicPartition(insert.topic(), (int) high))
                .toList();
    }
}
