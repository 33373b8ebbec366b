package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;

/**
 * The transactional producers of a query in this JVM. Each running task has its own producer, so that it can commit
 * while other tasks write. A transactional id is a prefix and a number; the free producer with the smallest number is
 * used first.
 */
final class ProducerSlots {
    private final TransactionalProducers producers;
    private final TreeMap<Integer, Producer<byte[], byte[]>> free = new TreeMap<>();

    /** The producers of running tasks; null while one is being opened. */
    private final Map<Integer, Producer<byte[], byte[]>> taken = new HashMap<>();

    private boolean hasFailed;
    private boolean isClosed;

    /** A producer and its number. */
    record Slot(int number, Producer<byte[], byte[]> producer) {}

    /**
     * @param prefix of the transactional ids
     * @param settings of the producers
     * @param newProducer makes a producer with its settings
     */
    ProducerSlots(
            String prefix,
            Map<String, Object> settings,
            Function<Map<String, Object>, Producer<byte[], byte[]>> newProducer) {
        this.producers = new TransactionalProducers(prefix, settings, newProducer, 0);
    }

    /** The producers of a query that writes to brokers. */
    static ProducerSlots ofBrokers(String prefix, Map<String, Object> settings) {
        return new ProducerSlots(prefix, settings, TransactionalProducers::ofBrokers);
    }

    /**
     * Opens the producers with the first numbers. The producers of an earlier process that have these ids cannot write
     * any more.
     */
    void fence(int numbers) {
        for (int number = 0; number < numbers; number++) {
            Producer<byte[], byte[]> producer = producers.open(number);
            synchronized (this) {
                free.put(number, producer);
            }
        }
    }

    /** As {@link TransactionalProducers#limitMs}. */
    int limitMs() {
        return producers.limitMs();
    }

    /** Takes a producer that no other task uses. */
    Slot take() {
        int number = 0;
        synchronized (this) {
            if (hasFailed || isClosed) {
                // A new producer with the id of the failed producer would abort its transaction.
                throw new KafkaException("a producer of the query has failed");
            }
            if (!free.isEmpty()) {
                Map.Entry<Integer, Producer<byte[], byte[]>> first = free.pollFirstEntry();
                taken.put(first.getKey(), first.getValue());
                return new Slot(first.getKey(), first.getValue());
            }
            while (taken.containsKey(number)) {
                number++;
            }
            taken.put(number, null);
        }
        try {
            return opened(number, producers.open(number));
        } catch (RuntimeException failed) {
            synchronized (this) {
                taken.remove(number); // it has no transaction; numbers that brokers know have no gaps
            }
            throw failed;
        }
    }

    private synchronized Slot opened(int number, Producer<byte[], byte[]> producer) {
        if (isClosed) {
            producer.close(Duration.ZERO);
            throw new KafkaException("the query has ended");
        }
        taken.put(number, producer);
        return new Slot(number, producer);
    }

    /** Returns a producer without an open transaction. */
    synchronized void release(Slot slot) {
        taken.remove(slot.number);
        if (isClosed) {
            slot.producer.close(Duration.ZERO);
        } else {
            free.put(slot.number, slot.producer);
        }
    }

    /** Closes a producer whose transaction is open. The next start of the query commits it. */
    void discard(Slot slot) {
        synchronized (this) {
            hasFailed = true;
        }
        slot.producer.close(Duration.ZERO); // without a time, the client would abort the transaction
    }

    /**
     * Closes the producers, also if their tasks are still running: records that they sent after the commit of their
     * transaction would belong to no transaction.
     *
     * @return whether a transaction may be open: a producer has failed, or a task still has one
     */
    synchronized boolean close() {
        boolean mayBeOpen = hasFailed || !taken.isEmpty();
        isClosed = true;
        free.values().forEach(producer -> producer.close(Duration.ZERO));
        free.clear();
        taken.values().stream().filter(Objects::nonNull).forEach(producer -> producer.close(Duration.ZERO));
        return mayBeOpen;
    }
}
