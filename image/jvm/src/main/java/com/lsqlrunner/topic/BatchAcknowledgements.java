package com.lsqlrunner.topic;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;

/** The acknowledgements of a task of a batch: a flush of the producer waits for all of them. */
final class BatchAcknowledgements implements Acknowledgements, Callback {
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    @Override
    public Callback sending() {
        return this;
    }

    @Override
    public void failed(FailedRecord record) {
        throw new IllegalStateException("a batch counts its failed records in its plan");
    }

    @Override
    public void onCompletion(RecordMetadata metadata, Exception error) {
        if (error != null) {
            failure.compareAndSet(null, error);
        }
    }

    @Override
    public void throwFailure() {
        Exception error = failure.get();
        if (error != null) {
            throw error instanceof RuntimeException thrown ? thrown : new KafkaException(error);
        }
    }
}
