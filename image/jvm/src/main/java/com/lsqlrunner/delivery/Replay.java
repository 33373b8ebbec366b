package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.Map;

/**
 * The batch that runs again, or the first one.
 *
 * @param batch its id
 * @param hasBegun whether an earlier process may have written some of its records
 * @param positions for a query without state: the next offset to read by the number of the partition, the least of all
 *     sources; null for a query with state
 */
public record Replay(long batch, boolean hasBegun, Map<Integer, Long> positions) implements Serializable {
    private static final long serialVersionUID = 1L;

    /**
     * Whether the batch may write a record with this identity.
     *
     * <p>Without state, the identity contains partition and offset of the source record, and a record is written once.
     * With state, a batch writes one record for each group or joined pair.
     *
     * @param ofBatch the batch that has written it
     */
    boolean mayWrite(long ofBatch, long high, long low) {
        if (positions == null) {
            return ofBatch == batch;
        }
        return low >= positions.getOrDefault((int) high, 0L);
    }
}
