package com.lsqlrunner.topic;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;

/** The acknowledgements of a task of a batch: a flush of the producer waits for all of them. */
public class BatchAcknowledgements extends Acknowledgements implements Callback {

    @Override
    public final Callback sending() {
        return this;
    }

    @Override
    public final void failed(FailedRecord record) {
        throw new IllegalStateException("a batch counts its failed records in its plan");
    }

    @Override
    public void onCompletion(RecordMetadata metadata, Exception error) {
        if (error != null) {
            notWritten(error);
        }
    }
}
