package com.lsqlrunner.batch;

import com.lsqlrunner.tick.Ticks;
import com.lsqlrunner.topic.Positions;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A query reads records again whose results are in its targets, to build the state that replaces another one. A green
 * query does so while a blue one writes these results: it reads up to where the blue one has ended a batch, without an
 * end.
 */
final class Rebuild {
    /** One in which ticks advance the event time, and one that removes what the watermark has passed. */
    private static final int EMPTY_BATCHES = 2;

    /**
     * What the other state contains.
     *
     * @param ends where it ends: nothing is written before
     * @param watermarkMs the watermark of its results
     */
    record Reached(Map<TopicPartition, Long> ends, long watermarkMs) {}

    private final boolean isGreen;
    private final boolean waitsForWatermark;
    private final String clock;
    private final long clockDelayMs;
    private final Set<Object> tables = new HashSet<>();
    private final Set<Object> streams = new HashSet<>();
    private Reached reached;

    /** It holds from the next batch on: all topics of a batch are read up to the same batch of the blue query. */
    private Reached next;

    private int emptyBatches = EMPTY_BATCHES;

    /**
     * @param options {@code rebuild.ends} (the JSON of the positions before which nothing is written);
     *     {@code rebuild.watermark.ms}, and {@code rebuild.waits} if results wait for the watermark; for a query with a
     *     clock {@code rebuild.clock} and {@code rebuild.clock.delay.ms}; {@code rebuild.green}
     */
    Rebuild(CaseInsensitiveStringMap options) {
        next = new Reached(
                Positions.of(Positions.parse(options.get("rebuild.ends"))), options.getLong("rebuild.watermark.ms", 0));
        reached = next;
        isGreen = options.getBoolean("rebuild.green", false);
        waitsForWatermark = options.getBoolean("rebuild.waits", false);
        clock = options.get("rebuild.clock");
        clockDelayMs = options.getLong("rebuild.clock.delay.ms", 0);
    }

    void add(Object stream, boolean isTable) {
        (isTable ? tables : streams).add(stream);
    }

    boolean isGreen() {
        return isGreen;
    }

    /** The blue query has ended a batch. Topics that it does not read are tables, whose ends do not change. */
    void follow(Reached blue) {
        Map<TopicPartition, Long> ends = new HashMap<>(next.ends);
        ends.putAll(blue.ends);
        next = new Reached(ends, blue.watermarkMs);
    }

    /** Whether all records are read up to the last known batch of the blue query. */
    boolean hasCaughtUp(Map<Object, Map<TopicPartition, Long>> positions) {
        reached = next;
        return areRead(streams, positions) && areRead(tables, positions);
    }

    /**
     * Whether the next batch writes nothing. After the last one with records, ticks advance the event time to that of
     * the other state, which may be later than its records; and a batch follows, because state is removed by the
     * watermark of the batch before, and records are late by that of the batch before that one.
     *
     * @param positions the next offsets to read, by stream; empty for a stream that has not planned a batch
     */
    boolean goesOn(Map<Object, Map<TopicPartition, Long>> positions) {
        if (isGreen || !hasCaughtUp(positions)) {
            return true;
        }
        if (clock != null && reached.watermarkMs > 0) {
            Ticks.advance(clock, reached.watermarkMs + clockDelayMs);
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
                        .allMatch(each -> each.getValue() >= reached.ends.getOrDefault(each.getKey(), 0L));
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
            long end =
                    Math.min(latest.getOrDefault(partition, position), reached.ends.getOrDefault(partition, position));
            return waits ? position : Math.max(position, end);
        });
        return until;
    }

    /** Whether a partition has records that are to be read again. */
    boolean isUnread(TopicPartition partition, long position) {
        return position < reached.ends.getOrDefault(partition, 0L);
    }

    /**
     * How far the next batch may advance the event time of an input.
     *
     * @param delayMs the delay of the watermark of the input
     */
    long limitMs(long delayMs) {
        return reached.watermarkMs > 0 || waitsForWatermark ? reached.watermarkMs + delayMs : Long.MAX_VALUE;
    }
}
