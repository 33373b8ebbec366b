package com.lsqlrunner.batch;

import com.lsqlrunner.tick.Ticks;
import com.lsqlrunner.topic.Positions;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A query reads records again whose results are in its targets, to build the state that replaces another one. */
final class Rebuild {
    /** One in which ticks advance the event time, and one that removes what the watermark has passed. */
    private static final int EMPTY_BATCHES = 2;

    private final Map<TopicPartition, Long> ends;
    private final String clock;
    private final long timeMs;
    private final Set<Object> tables = new HashSet<>();
    private final Set<Object> streams = new HashSet<>();
    private int emptyBatches = EMPTY_BATCHES;

    /**
     * @param options {@code rebuild.ends} (the JSON of the positions before which nothing is written), and, for a query
     *     with a clock, {@code rebuild.clock} and {@code rebuild.time.ms}, to which it is set at last
     */
    Rebuild(CaseInsensitiveStringMap options) {
        ends = Positions.of(Positions.parse(options.get("rebuild.ends")));
        clock = options.get("rebuild.clock");
        timeMs = options.getLong("rebuild.time.ms", 0);
    }

    void add(Object stream, boolean isTable) {
        (isTable ? tables : streams).add(stream);
    }

    /**
     * Whether the next batch writes nothing. After the last one with records, ticks advance the event time to that of
     * the other state, which may be later than its records; and a batch follows, because state is removed by the
     * watermark of the batch before, and records are late by that of the batch before that one.
     *
     * @param positions the next offsets to read, by stream; empty for a stream that has not planned a batch
     */
    boolean goesOn(Map<Object, Map<TopicPartition, Long>> positions) {
        if (!areRead(streams, positions) || !areRead(tables, positions)) {
            return true;
        }
        if (clock != null) {
            Ticks.advance(clock, timeMs);
        }
        return emptyBatches-- > 0;
    }

    private boolean areRead(Set<Object> of, Map<Object, Map<TopicPartition, Long>> positions) {
        return of.stream().allMatch(stream -> isRead(positions.getOrDefault(stream, Map.of())));
    }

    /** Whether a stream has read all records; false before its positions are known. */
    private boolean isRead(Map<TopicPartition, Long> positions) {
        return !positions.isEmpty()
                && positions.entrySet().stream()
                        .allMatch(each -> each.getValue() >= ends.getOrDefault(each.getKey(), 0L));
    }

    /** The ends of a stream's partitions in the next batch. A partition that the other state did not know has none. */
    Map<TopicPartition, Long> within(
            Object stream,
            Map<TopicPartition, Long> from,
            Map<TopicPartition, Long> latest,
            Map<Object, Map<TopicPartition, Long>> positions) {
        boolean waits = !tables.contains(stream) && !areRead(tables, positions);
        Map<TopicPartition, Long> until = new HashMap<>(from);
        until.replaceAll((partition, position) -> {
            long end = Math.min(latest.getOrDefault(partition, position), ends.getOrDefault(partition, position));
            return waits ? position : Math.max(position, end);
        });
        return until;
    }

    /** Whether a partition has records that are to be read again. */
    boolean isUnread(TopicPartition partition, long position) {
        return position < ends.getOrDefault(partition, 0L);
    }
}
