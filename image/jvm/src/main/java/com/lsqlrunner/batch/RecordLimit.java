package com.lsqlrunner.batch;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Divides the records that a batch may have among partitions, in proportion to their new records. */
final class RecordLimit {
    private RecordLimit() {}

    /**
     * Where the batch ends. A partition with new records has at least one record in the batch.
     *
     * @param limit the number of records, which each partition may exceed by one
     * @param from the positions of all partitions
     * @param until the ends of all partitions
     */
    static Map<TopicPartition, Long> ends(long limit, Map<TopicPartition, Long> from, Map<TopicPartition, Long> until) {
        Map<TopicPartition, Long> sizes = new HashMap<>();
        until.forEach((partition, end) -> sizes.put(partition, Math.max(0, end - from.get(partition))));
        double total = sizes.values().stream().mapToDouble(Long::doubleValue).sum();
        if (total <= limit) {
            return until;
        }
        Map<TopicPartition, Long> ends = new HashMap<>(until);
        sizes.forEach((partition, size) -> {
            if (size > 0) {
                ends.put(partition, from.get(partition) + Math.min(size, Math.max(1, (long) (limit * (size / total)))));
            }
        });
        return ends;
    }
}
