package com.lsqlrunner.batch;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.errors.Unchecked;
import com.lsqlrunner.realtime.RealTime;
import com.lsqlrunner.sink.MutedQueries;
import com.lsqlrunner.topic.Positions;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;

/**
 * Decides when a query begins its next batch: when one of its topics has new records, but not before the pace has
 * passed since the previous batch. With a backlog, batches follow each other without a pause.
 *
 * <p>While there are no records, a consumer waits at the broker for the first one. Spark would request the ends of all
 * partitions again and again.
 *
 * <p>All streams of a query share a trigger. Only the first stream waits: a batch reads all of them.
 */
@PythonEntry
public final class BatchTrigger {
    /** The longest wait for records. After it, Spark looks for partitions that were added to the topic. */
    static final Duration MAX_WAIT = Duration.ofSeconds(10);

    /** The pause after a record that is not in the next planned batch, and after an error. */
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static final ConcurrentMap<String, BatchTrigger> TRIGGERS = new ConcurrentHashMap<>();

    private final String query;
    private final Duration pace;
    private final Supplier<Consumer<byte[], byte[]>> newConsumer;

    /** The next offsets to read, by stream; empty before the first batch. */
    private final Map<Object, Map<TopicPartition, Long>> positions = new LinkedHashMap<>();

    private final Map<Object, Long> plannedRecords = new HashMap<>();
    private final Set<Object> streamsWithBacklog = new HashSet<>();
    private volatile Consumer<byte[], byte[]> consumer;
    private Map<TopicPartition, Long> consumerPositions = Map.of();
    private boolean hasUnreadRecords;
    private long lastBatchNanos;
    private boolean stopping;
    private RealTime realTime;

    /** How state is built again; null if all results are written. */
    private Rebuild rebuild;

    /** The unread records of each stream after the planned batch. */
    private final Map<Object, Long> backlogs = new HashMap<>();

    BatchTrigger(String query, Duration pace, Supplier<Consumer<byte[], byte[]>> newConsumer) {
        this.query = query;
        this.pace = pace;
        this.newConsumer = newConsumer;
        this.lastBatchNanos = System.nanoTime() - pace.toNanos();
    }

    /** Adds a stream to the trigger of its query. The first stream creates the trigger. */
    static BatchTrigger join(
            String query, Object stream, Duration pace, Supplier<Consumer<byte[], byte[]>> newConsumer) {
        BatchTrigger trigger = TRIGGERS.computeIfAbsent(query, name -> new BatchTrigger(name, pace, newConsumer));
        trigger.add(stream);
        return trigger;
    }

    /** Lets the query process records as they arrive, while it waits. */
    void waitIn(RealTime ofQuery) {
        realTime = ofQuery;
    }

    /**
     * Lets batches of a stream's query end at positions, and write nothing before.
     *
     * @param isFirst whether the stream is a table, which is read before the other streams
     */
    synchronized void rebuild(Object stream, Rebuild ofQuery, boolean isFirst) {
        rebuild = rebuild == null ? ofQuery : rebuild;
        rebuild.add(stream, isFirst);
        MutedQueries.add(query);
    }

    /**
     * Lets a green query read up to where the blue one has ended a batch. Others do not change.
     *
     * @param ends the JSON of the positions of the blue query after this batch
     * @param watermarkMs the watermark with which the batch ran; 0 before the first event time
     */
    public static void follow(String query, String ends, long watermarkMs) {
        BatchTrigger trigger = TRIGGERS.get(query);
        if (trigger != null) {
            trigger.follow(new Rebuild.Reached(Positions.of(Positions.parse(ends)), watermarkMs));
        }
    }

    private synchronized void follow(Rebuild.Reached blue) {
        if (rebuild != null && rebuild.isGreen()) {
            rebuild.follow(blue);
            notifyAll();
        }
    }

    /** Whether the next batch writes nothing. */
    synchronized boolean isRebuilding() {
        return rebuild != null;
    }

    /**
     * The ends of a stream's partitions in the next batch.
     *
     * @param from the positions of the partitions
     * @param ends of the records
     */
    synchronized Map<TopicPartition, Long> within(
            Object stream, Map<TopicPartition, Long> from, Map<TopicPartition, Long> ends) {
        return rebuild == null ? ends : rebuild.within(stream, from, ends, positions);
    }

    /** Whether a record at a position is to be read again before results are written. */
    synchronized boolean isToBeRead(TopicPartition partition, long position) {
        return rebuild != null && rebuild.isUnread(partition, position);
    }

    /** How far the next batch may advance the event time of an input, if it writes nothing. */
    synchronized long limitMs(long delayMs) {
        return rebuild == null ? Long.MAX_VALUE : rebuild.limitMs(delayMs);
    }

    /** Ends the current wait of a query and prevents further ones, so that the query can be stopped. */
    public static void stop(String query) {
        BatchTrigger trigger = TRIGGERS.get(query);
        if (trigger != null) {
            trigger.stop();
        }
    }

    /**
     * Ends the wait for records of all queries, because the event time of an idle topic has been advanced.
     *
     * @param query whose event time it is, and whose open batch is closed
     */
    public static void wakeAll(String query) {
        TRIGGERS.forEach((name, trigger) -> {
            if (trigger.realTime != null && name.equals(query)) {
                trigger.realTime.ask();
            }
            trigger.wake();
        });
    }

    /** Lets a query end its batch now, if it is open and has records. */
    public static void endOpen(String query) {
        BatchTrigger trigger = TRIGGERS.get(query);
        if (trigger != null && trigger.realTime != null) {
            trigger.realTime.save();
        }
    }

    /** The next offsets of a query to read after the last planned batch; empty if no stream has joined. */
    public static Map<TopicPartition, Long> positions(String query) {
        BatchTrigger trigger = TRIGGERS.get(query);
        return trigger == null ? Map.of() : trigger.allPositions();
    }

    private synchronized Map<TopicPartition, Long> allPositions() {
        Map<TopicPartition, Long> all = new HashMap<>();
        positions.values().forEach(all::putAll);
        return all;
    }

    synchronized void add(Object stream) {
        positions.put(stream, Map.of());
    }

    /** Removes a stream. Without streams, the trigger ends. */
    synchronized void leave(Object stream) {
        positions.remove(stream);
        plannedRecords.remove(stream);
        backlogs.remove(stream);
        if (positions.isEmpty()) {
            TRIGGERS.values().remove(this);
            MutedQueries.remove(query);
            if (consumer != null) {
                consumer.close(Duration.ZERO);
            }
        }
    }

    /**
     * If the stream is the first one, waits until the query may begin its next batch.
     *
     * @param start the next offsets to read of the stream
     * @return the waiting time in milliseconds
     */
    long await(Object stream, Map<TopicPartition, Long> start) {
        long began = System.nanoTime();
        boolean isFirst = isFirst(stream, start);
        if (isFirst && goesOn()) {
            hasUnreadRecords = false; // a batch follows at once
        } else if (isFirst && realTime != null && realTime.hasResults()) {
            hasUnreadRecords = false; // the batch may have no records
        } else if (isFirst && realTime != null && realTime.isPossible(backlog())) {
            process();
        } else if (isFirst && mustWait()) {
            long untilPace = lastBatchNanos + pace.toNanos() - began;
            pause(Duration.ofNanos(Math.max(hasUnreadRecords ? PAUSE.toNanos() : 0, untilPace)));
            hasUnreadRecords = false;
            waitForRecords();
        }
        return Duration.ofNanos(System.nanoTime() - began).toMillis();
    }

    /** Begins to write results if all records are read again. */
    private synchronized boolean goesOn() {
        if (rebuild != null && rebuild.isGreen()) {
            waitUntil(this::hasMore, MAX_WAIT);
        }
        if (rebuild != null && !rebuild.goesOn(positions)) {
            rebuild = null;
            MutedQueries.remove(query);
        }
        return rebuild != null;
    }

    /** Whether a green query has records to read up to the last known batch of its blue one. */
    private synchronized boolean hasMore() {
        rebuild.takeNext();
        return !rebuild.hasCaughtUp(positions);
    }

    private synchronized long backlog() {
        boolean isKnown = backlogs.keySet().containsAll(positions.keySet());
        return isKnown ? backlogs.values().stream().mapToLong(each -> each).sum() : Long.MAX_VALUE;
    }

    private void process() {
        if (realTime.isIdle()) { // an open batch costs more than to wait
            hasUnreadRecords = false;
            waitForRecords();
            if (!hasUnreadRecords) {
                return;
            }
        }
        try {
            realTime.process();
        } catch (InterruptedException interrupt) {
            throw Unchecked.thrown(interrupt);
        }
    }

    /**
     * Begins the next batch of a query immediately, although the trigger waits for a record.
     *
     * @param start the next offsets to read of the stream
     * @return the waiting time in milliseconds
     */
    synchronized long begin(Object stream, Map<TopicPartition, Long> start) {
        positions.put(stream, start);
        return 0;
    }

    private synchronized boolean isFirst(Object stream, Map<TopicPartition, Long> start) {
        positions.put(stream, start);
        return positions.keySet().iterator().next() == stream && !stopping;
    }

    private synchronized boolean mustWait() {
        return streamsWithBacklog.isEmpty() && positions.values().stream().noneMatch(Map::isEmpty);
    }

    /**
     * Stores where the planned batch ends.
     *
     * @param end the offsets after the records that the batch reads of the stream
     * @param latest the ends of the partitions
     * @return the partitions with records that the batch does not read
     */
    synchronized Set<TopicPartition> planned(
            Object stream, Map<TopicPartition, Long> end, Map<TopicPartition, Long> latest) {
        Map<TopicPartition, Long> start = positions.put(stream, end);
        plannedRecords.put(stream, size(start, end));
        if (!end.equals(start)) {
            hasUnreadRecords = false;
            lastBatchNanos = System.nanoTime();
        }
        backlogs.put(stream, size(end, latest));
        Set<TopicPartition> unread = new HashSet<>(latest.keySet());
        unread.removeIf(partition -> end.getOrDefault(partition, Long.MAX_VALUE) >= latest.get(partition));
        if (unread.isEmpty()) {
            streamsWithBacklog.remove(stream);
        } else {
            streamsWithBacklog.add(stream);
        }
        return unread;
    }

    private static long size(Map<TopicPartition, Long> start, Map<TopicPartition, Long> end) {
        return end.entrySet().stream()
                .mapToLong(each -> each.getValue() - start.getOrDefault(each.getKey(), 0L))
                .sum();
    }

    /** The number of offsets in the planned batch, of all streams. */
    synchronized long plannedRecords() {
        return plannedRecords.values().stream().mapToLong(Long::longValue).sum();
    }

    private void waitForRecords() {
        try {
            Consumer<byte[], byte[]> waiting = positionedConsumer();
            if (!isStopping() && !waiting.poll(MAX_WAIT).isEmpty()) {
                hasUnreadRecords = true;
                consumerPositions = Map.of();
                if (WaitingConsumer.mayHaveRequestedMore(waiting)) {
                    waiting.close(Duration.ZERO);
                    consumer = null;
                }
            }
        } catch (WakeupException wake) {
            consumerPositions = Map.of();
        } catch (InterruptException interrupt) {
            Thread.interrupted(); // Spark expects the exception without the flag
            throw Unchecked.thrown(new InterruptedException());
        } catch (KafkaException error) {
            // Spark's own requests to the brokers follow, and report the error.
            consumerPositions = Map.of();
            pause(PAUSE);
        }
    }

    /** The consumer at the positions of all streams. */
    private Consumer<byte[], byte[]> positionedConsumer() {
        Map<TopicPartition, Long> all = allPositions();
        if (consumer == null) {
            consumer = newConsumer.get();
        }
        if (!consumer.assignment().equals(all.keySet())) {
            consumer.assign(all.keySet());
            consumerPositions = Map.of();
        }
        Map<TopicPartition, Long> before = consumerPositions;
        all.forEach((partition, position) -> {
            if (!position.equals(before.get(partition))) {
                consumer.seek(partition, position);
            }
        });
        consumer.resume(consumer.paused());
        consumerPositions = all;
        return consumer;
    }

    synchronized boolean isStopping() {
        return stopping;
    }

    private synchronized void pause(Duration longest) {
        waitUntil(() -> false, longest);
    }

    /** Waits until a condition holds, or the query is to stop. A notification has it checked again. */
    private synchronized void waitUntil(BooleanSupplier condition, Duration longest) {
        long deadline = System.nanoTime() + longest.toNanos();
        try {
            for (long left = longest.toMillis();
                    left > 0 && !stopping && !condition.getAsBoolean();
                    left = millisUntil(deadline)) {
                wait(left);
            }
        } catch (InterruptedException interrupt) {
            throw Unchecked.thrown(interrupt);
        }
    }

    private static long millisUntil(long nanos) {
        return Duration.ofNanos(nanos - System.nanoTime()).toMillis();
    }

    private void stop() {
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        if (realTime != null) {
            realTime.stop();
        }
        wake();
    }

    private void wake() {
        Consumer<byte[], byte[]> waiting = consumer;
        if (waiting != null) {
            waiting.wakeup();
        }
    }
}
