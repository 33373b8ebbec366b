package com.lsqlrunner.batch;

import com.lsqlrunner.topic.RangeConsumer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/**
 * The consumers of one stream in this JVM. A task takes one and returns it, so that the next batch continues with it.
 */
final class RangeConsumers {
    /**
     * A consumer that is not used for this time is closed. It is left over when a batch of another size has other
     * tasks.
     */
    private static final Duration UNUSED = Duration.ofMinutes(1);

    private static final ConcurrentMap<String, RangeConsumers> STREAMS = new ConcurrentHashMap<>();

    private record Idle(RangeConsumer consumer, long sinceNanos) {}

    private final Map<String, Deque<Idle>> idle = new HashMap<>();
    private boolean closed;

    /**
     * The consumers of a stream. A worker does not know when a stream ends, so a new stream closes the unused consumers
     * of other streams.
     */
    static RangeConsumers of(String stream) {
        RangeConsumers known = STREAMS.get(stream);
        if (known != null) {
            return known;
        }
        STREAMS.values().forEach(each -> each.closeUnused(System.nanoTime()));
        return STREAMS.computeIfAbsent(stream, name -> new RangeConsumers());
    }

    /** Closes the consumers of a stream, also those that tasks return later. */
    static void close(String stream) {
        RangeConsumers consumers = STREAMS.remove(stream);
        if (consumers != null) {
            consumers.close();
        }
    }

    /**
     * Takes a consumer.
     *
     * @param task the name of the task, which is the same in each batch
     */
    RangeConsumer take(String task, Supplier<RangeConsumer> open) {
        synchronized (this) {
            Deque<Idle> ofTask = idle.get(task);
            if (ofTask != null && !ofTask.isEmpty()) {
                return ofTask.pop().consumer;
            }
        }
        return open.get();
    }

    /** Returns a consumer that has read its ranges. */
    void release(String task, RangeConsumer consumer) {
        Deque<RangeConsumer> unused = new ArrayDeque<>();
        synchronized (this) {
            if (closed) {
                unused.add(consumer);
            } else {
                long now = System.nanoTime();
                idle.computeIfAbsent(task, name -> new ArrayDeque<>()).push(new Idle(consumer, now));
                removeUnused(now, unused);
            }
        }
        unused.forEach(RangeConsumer::close);
    }

    /** Closes the consumers that were not used for a minute. */
    void closeUnused(long now) {
        Deque<RangeConsumer> unused = new ArrayDeque<>();
        synchronized (this) {
            removeUnused(now, unused);
        }
        unused.forEach(RangeConsumer::close);
    }

    private void removeUnused(long now, Deque<RangeConsumer> unused) {
        for (Deque<Idle> ofTask : idle.values()) {
            for (Iterator<Idle> each = ofTask.iterator(); each.hasNext(); ) {
                Idle next = each.next();
                if (now - next.sinceNanos > UNUSED.toNanos()) {
                    unused.add(next.consumer);
                    each.remove();
                }
            }
        }
    }

    private synchronized void close() {
        closed = true;
        idle.values().forEach(ofTask -> ofTask.forEach(each -> each.consumer.close()));
        idle.clear();
    }
}
