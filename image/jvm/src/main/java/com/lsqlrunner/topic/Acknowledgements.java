package com.lsqlrunner.topic;

import com.lsqlrunner.delivery.RecordSender;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.KafkaException;

/** The acknowledgements and errors of the records that a task has sent. */
public abstract class Acknowledgements {
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    /** The callback for the next record. */
    public abstract Callback sending();

    /** The sender of the task's records, before the first one. */
    public void writesWith(RecordSender sender) {
        // The end of a batch commits the records of its tasks.
    }

    /** Counts a failed record whose error policy lets the query continue. */
    public abstract void failed(FailedRecord record);

    /** Keeps the error of a record that could not be written; the first one counts. */
    protected final void notWritten(Exception error) {
        failure.compareAndSet(null, error);
    }

    /** Throws the first error of a record that could not be written, if there is one. */
    public final void throwFailure() {
        Exception error = failure.get();
        if (error != null) {
            throw error instanceof RuntimeException thrown ? thrown : new KafkaException(error);
        }
    }
}
