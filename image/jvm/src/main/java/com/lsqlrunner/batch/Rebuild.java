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

    /** The topics of the blue query; empty if there is none. */
    private final Set<String> blueTopics;

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
     *     clock {@code rebuild.clock} and {@code rebuild.clock.delay.ms}; for a green query
     *     {@code rebuild.blue.topics}, those that the blue one reads
     */
    Rebuild(CaseInsensitiveStringMap options) {
        next = new Reached(
                Positions.of(Positions.parse(options.get("rebuild.ends"))), options.getLong("rebuild.watermark.ms", 0));
        reached = next;
        String topics = options.get("rebuild.blue.topics");
        blueTopics = topics == null ? Set.of() : Set.of(topics.split(","));
        waitsForWatermark = options.getBoolean("rebuild.waits", false);
        clock = options.get("rebuild.clock");
        clockDelayMs = options.getLong("rebuild.clock.delay.ms", 0);
    }

    void add(Object stream, boolean isTable) {
        (isTable ? tables : streams).add(stream);
    }

    boolean isGreen() {
        return !blueTopics.isEmpty();
    }

    /** The blue query has ended a batch. */
    void follow(Reached blue) {
        Map<TopicPartition, Long> ends = new HashMap<>(next.ends);
        ends.putAll(blue.ends);
        next = new Reached(ends, blue.watermarkMs);
    }

    /** The next batch is read up to the last known batch of the blue query. */
    void takeNext() {
        reached = next;
    }

    /** Whether all records are read that are to be read again. */
    boolean hasCaughtUp(Map<Object, Map<TopicPartition, Long>> positions) {
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
        takeNext();
        if (isGreen() || !hasCaughtUp(positions)) {
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
                && endsOf(topicOf(positions)).entrySet().stream()
                        .allMatch(each -> positions.getOrDefault(each.getKey(), 0L) >= each.getValue());
    }

    private static String topicOf(Map<TopicPartition, Long> ofStream) {
        return ofStream.keySet().iterator().next().topic();
    }

    private Map<TopicPartition, Long> endsOf(String topic) {
        Map<TopicPartition, Long> ends = new HashMap<>(reached.ends);
        ends.keySet().removeIf(each -> !each.topic().equals(topic));
        return ends;
    }

    /**
     * The ends of a stream's partitions in the next batch. A partition that the other state did not know has none. A
     * table that the blue query does not read is read on: else its rows would be those of the beginning.
     */
    Map<TopicPartition, Long> within(
            Object stream,
            Map<TopicPartition, Long> from,
            Map<TopicPartition, Long> latest,
            Map<Object, Map<TopicPartition, Long>> positions) {
        if (from.isEmpty() || (!tables.contains(stream) && !areRead(tables, positions))) {
            return from;
        }
        String topic = topicOf(from);
        boolean isOwnTable = isGreen() && tables.contains(stream) && !blueTopics.contains(topic);
        Map<TopicPartition, Long> ends = isOwnTable ? latest : endsOf(topic);
        Map<TopicPartition, Long> until = new HashMap<>(from);
        ends.forEach((partition, end) -> {
            long least = from.getOrDefault(partition, 0L);
            if (latest.containsKey(partition)) {
                until.put(partition, Math.max(least, Math.min(latest.get(partition), end)));
            }
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
