package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * The unused producers of a worker. A task takes one and returns it, so that the next batch continues with it. A worker
 * does not know when a query ends, so producers that were not used for some time are closed.
 */
public final class WorkerProducers {
    private static final Duration UNUSED = Duration.ofMinutes(1);

    private static final ConcurrentMap<Map<String, Object>, Admin> ADMINS = new ConcurrentHashMap<>();
    private static final WorkerProducers OF_WORKER = new WorkerProducers(UNUSED);

    private final Duration unused;
    private final Map<String, Deque<Idle>> idle = new HashMap<>();

    private record Idle(Owned owned, long sinceNanos) {}

    /**
     * A producer.
     *
     * @param owner its id and epoch; null without transactions
     */
    record Owned(Producer<byte[], byte[]> producer, ProducerOwner owner) {}

    /** @param unused the time after which a producer is closed */
    WorkerProducers(Duration unused) {
        this.unused = unused;
    }

    /** The producers of this JVM. */
    static WorkerProducers ofWorker() {
        return OF_WORKER;
    }

    /** The client for requests to the brokers, one for each connection. It stays open. */
    static Admin admin(Map<String, Object> connection) {
        return ADMINS.computeIfAbsent(connection, Admin::create);
    }

    /**
     * A sender of an at-least-once output, with a producer of its own.
     *
     * @param start unique to a start of a query: a producer of an earlier start may have failed
     * @param settings of the producer
     */
    public static RecordSender sender(String start, Map<String, String> settings) {
        return new Sender(start, new HashMap<>(settings));
    }

    /** Takes a producer that was returned with this key; null if there is none. */
    synchronized Owned take(String key) {
        Deque<Idle> ofKey = idle.get(key);
        return ofKey == null || ofKey.isEmpty() ? null : ofKey.pop().owned;
    }

    /** Returns a producer without an open transaction. */
    void release(String key, Owned owned) {
        Deque<Owned> expired = new ArrayDeque<>();
        synchronized (this) {
            long now = System.nanoTime();
            removeUnused(now, expired);
            idle.computeIfAbsent(key, name -> new ArrayDeque<>()).push(new Idle(owned, now));
        }
        expired.forEach(each -> each.producer.close(Duration.ZERO));
    }

    private void removeUnused(long now, Deque<Owned> expired) {
        for (Deque<Idle> ofKey : idle.values()) {
            for (Iterator<Idle> each = ofKey.iterator(); each.hasNext(); ) {
                Idle next = each.next();
                if (now - next.sinceNanos >= unused.toNanos()) {
                    expired.add(next.owned);
                    each.remove();
                }
            }
        }
        idle.values().removeIf(Deque::isEmpty);
    }

    private static final class Sender implements RecordSender {
        private final String start;
        private final Map<String, Object> settings;
        private Owned owned;
        private boolean isComplete;

        Sender(String start, Map<String, Object> settings) {
            this.start = start;
            this.settings = settings;
        }

        @Override
        public WrittenRecords begin() {
            owned = ofWorker().take(start);
            if (owned == null) {
                owned = new Owned(TransactionalProducers.ofBrokers(settings), null);
            }
            return null;
        }

        @Override
        public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            owned.producer.send(record, callback);
        }

        @Override
        public void commit() {
            if (owned != null) {
                owned.producer.flush();
            }
            isComplete = true;
        }

        @Override
        public void abort() {
            isComplete = false;
        }

        @Override
        public void close() {
            if (owned == null) {
                return;
            }
            if (isComplete) {
                ofWorker().release(start, owned);
            } else {
                owned.producer.close(Duration.ZERO); // another attempt writes the records again, with another one
            }
        }
    }
}
