package com.lsqlrunner.topic;

import org.apache.kafka.clients.producer.Callback;

/** What a task knows about the records that it has sent. */
interface Acknowledgements {
    /** The callback for the next record. */
    Callback sending();

    /** Counts a record that failed, and that its error policy did not let stop the query. */
    void failed(FailedRecord record);

    /** Throws the first error of a record that could not be written, if there is one. */
    void throwFailure();
}
