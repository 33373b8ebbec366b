package com.lsqlrunner.realtime;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * How far the readers of tables have come in an open batch. A record of a stream waits until they have passed on what
 * the tables had when it was read.
 */
final class TablePositions {
    private final int readers;
    private final Set<TopicPartition> partitions;
    private final Map<Object, Map<TopicPartition, Long>> passed = new HashMap<>();
    private boolean isEnding;

    /** @param readers of tables in the plan, and the partitions that they read */
    TablePositions(int readers, Set<TopicPartition> partitions) {
        this.readers = readers;
        this.partitions = partitions;
    }

    Set<TopicPartition> partitions() {
        return partitions;
    }

    /** A reader has passed on all records before its positions. */
    synchronized void passed(Object reader, Map<TopicPartition, Long> positions) {
        passed.put(reader, positions);
        notifyAll();
    }

    /** The readers end, wherever they are. */
    synchronized void end() {
        isEnding = true;
        notifyAll();
    }

    /** Waits until all readers have passed on the records before positions, or end. */
    synchronized void await(Map<TopicPartition, Long> positions) throws InterruptedException {
        while (!isEnding && !areReached(positions)) {
            wait();
        }
    }

    private boolean areReached(Map<TopicPartition, Long> positions) {
        return passed.size() == readers
                && passed.values().stream().allMatch(of -> of.entrySet().stream()
                        .allMatch(each -> each.getValue() >= positions.getOrDefault(each.getKey(), 0L)));
    }
}
