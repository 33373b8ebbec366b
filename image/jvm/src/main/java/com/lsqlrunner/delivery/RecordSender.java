package com.lsqlrunner.delivery;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Sends the records of one task. The task's thread calls all methods. */
public interface RecordSender extends AutoCloseable {
    /**
     * Prepares for the first record. A task without records does not call this method.
     *
     * @return the records that are already written; null if the task has them
     */
    default WrittenRecords begin() {
        return null;
    }

    /**
     * Sends a record.
     *
     * @param callback called when the brokers have the record, or with the reason why they do not
     */
    void send(ProducerRecord<byte[], byte[]> record, Callback callback);

    /** Commits the open transaction, if records are sent in transactions. */
    default void commitTransaction() {}

    /** Returns when the brokers have all records, and consumers of committed records see them. */
    void commit();

    /** After a commit: the message to the driver; null for none. */
    default TaskResult result() {
        return null;
    }

    /** The task fails: its records are written again. */
    default void abort() {}

    /** Ends the task. Records that were sent stay sent. */
    @Override
    void close();
}
