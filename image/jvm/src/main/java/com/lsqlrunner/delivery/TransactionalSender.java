package com.lsqlrunner.delivery;

import com.lsqlrunner.delivery.ProducerSlots.Slot;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Sends the records of a task in transactions. A transaction is committed at the end of the task, and after the commit
 * interval. It is never aborted.
 */
final class TransactionalSender implements RecordSender {
    /** The clock is read once for this number of records. */
    private static final int RECORDS_PER_CLOCK = 8;

    private final Producer<byte[], byte[]> producer;
    private final long intervalNanos;
    private final Runnable release;
    private final Runnable discard;
    private boolean isOpen;

    /** Whether records were sent after the last {@link #commit}; always true within a transaction. */
    private boolean isIncomplete;

    private long openedNanos;
    private int sinceClock;

    /**
     * @param producer of this task only
     * @param intervalNanos the longest time for which consumers of committed records wait for a record
     * @param release called at the end with a producer without an open transaction
     * @param discard called at the end with a producer whose records are not complete
     */
    TransactionalSender(Producer<byte[], byte[]> producer, long intervalNanos, Runnable release, Runnable discard) {
        this.producer = producer;
        this.intervalNanos = intervalNanos;
        this.release = release;
        this.discard = discard;
    }

    /** Sends with a producer of the slots. */
    static TransactionalSender of(ProducerSlots slots, long intervalNanos) {
        Slot slot = slots.take();
        return new TransactionalSender(
                slot.producer(), intervalNanos, () -> slots.release(slot), () -> slots.discard(slot));
    }

    @Override
    public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
        isIncomplete = true;
        if (!isOpen) {
            isOpen = true; // also if it fails: the producer cannot be used any more
            producer.beginTransaction();
            openedNanos = System.nanoTime();
            sinceClock = 0;
        } else if (++sinceClock == RECORDS_PER_CLOCK) {
            sinceClock = 0;
            if (System.nanoTime() - openedNanos >= intervalNanos) {
                commitTransaction();
                send(record, callback);
                return;
            }
        }
        producer.send(record, callback);
    }

    @Override
    public void commit() {
        commitTransaction();
        isIncomplete = false;
    }

    @Override
    public void commitTransaction() {
        if (isOpen) {
            producer.commitTransaction();
            isOpen = false;
        }
    }

    @Override
    public void close() {
        // Another attempt of a task that has failed would write its records again; the next start finds them.
        if (isIncomplete) {
            discard.run();
        } else {
            release.run();
        }
    }
}
