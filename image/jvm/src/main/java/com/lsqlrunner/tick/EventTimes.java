package com.lsqlrunner.tick;

import java.io.Serializable;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * How far the records of a batch may advance the event time of an input: windows, or a side of a join of streams.
 *
 * <p>Spark advances it to the newest record of any partition. With a backlog, partitions are read up to different
 * times, and the records of the slowest partition would be late. So while a partition has unread records, event time
 * does not advance past the newest record of this partition in the previous batches, as with Flink's watermark for each
 * split. Without unread records there is no limit.
 *
 * <p>A record that is further in the future than a limit does not advance event time: one wrong clock would make all
 * other records late.
 *
 * <p>The driver sets the limit before the tasks of a batch are serialized, and the tasks return the times of the
 * partitions.
 */
public final class EventTimes implements Serializable {
    private static final long serialVersionUID = 1L;

    private static final ConcurrentMap<String, EventTimes> BY_INPUT = new ConcurrentHashMap<>();

    private final transient SparkContext context;
    private final PartitionTimes times = new PartitionTimes();
    private volatile long limitMs = Long.MAX_VALUE;
    private volatile long maxFutureMs = Long.MAX_VALUE;
    private transient long countedRecords;

    EventTimes(SparkContext context) {
        this.context = context;
    }

    /** The times of an input. Needs an active session. */
    static EventTimes of(String input) {
        SparkContext active = SparkSession.active().sparkContext();
        return BY_INPUT.compute(input, (name, known) -> {
            if (known != null && known.context == active) {
                return known;
            }
            EventTimes created = new EventTimes(active);
            active.register(created.times);
            return created;
        });
    }

    /**
     * Sets the inputs of a topic's stream. Their event time does not advance before the first batch of the stream has
     * been planned.
     *
     * @param inputs names, separated by commas; null for none
     * @param maxFutureMs how far in the future a record may be, to advance the event time
     */
    public static List<EventTimes> begin(String inputs, long maxFutureMs) {
        if (inputs == null || inputs.isEmpty()) {
            return List.of();
        }
        List<EventTimes> begun =
                Stream.of(inputs.split(",")).map(EventTimes::of).toList();
        begun.forEach(each -> each.begin(maxFutureMs));
        return begun;
    }

    void begin(long maxFuture) {
        times.reset();
        countedRecords = 0;
        limitMs = PartitionTimes.UNKNOWN;
        maxFutureMs = maxFuture;
    }

    /**
     * Sets the limit for the next batch.
     *
     * @param unread the partitions with records that the batch does not read
     */
    public void planned(Set<TopicPartition> unread) {
        limitMs = unread.stream()
                .mapToLong(each -> times.newestMs(each.partition()))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Sets the limit for the next batch. */
    public void limit(long timeMs) {
        limitMs = timeMs;
    }

    /** The limit for the next batch. */
    public long limitMs() {
        return limitMs;
    }

    /** The number of records since the last call that are too far in the future to advance the event time. */
    public long takeFutureRecords() {
        long before = countedRecords;
        countedRecords = times.futureRecords();
        return countedRecords - before;
    }

    /** The stream has ended. */
    public void end() {
        BY_INPUT.values().remove(this);
    }

    /**
     * The time to which a record advances the event time of the input, at least 0; null if it is too far in the future.
     */
    Long advancedTo(int partition, long timeMs) {
        if (maxFutureMs != Long.MAX_VALUE && timeMs - maxFutureMs > System.currentTimeMillis()) {
            times.addFutureRecord();
            return null;
        }
        times.add(partition, timeMs);
        return Math.max(0, Math.min(timeMs, limitMs));
    }
}
