package com.lsqlrunner.realtime;

import com.lsqlrunner.topic.TopicConsumer;

/** A stream whose records an open batch reads. */
public interface OpenStream {
    /** A consumer of the topic, without partitions. */
    TopicConsumer newConsumer();

    /**
     * Whether the topic has partitions without a position.
     *
     * @throws RuntimeException if the topic, or one of its partitions, no longer exists
     */
    boolean hasNewPartitions();

    /** Whether missing records are an error; if not, reading continues after them. */
    boolean failsOnDataLoss();

    /** Whether records of other streams wait until records that it had before have been passed on: it is a table. */
    boolean isFirst();

    /** Plans the records of an open batch from now on; null to plan ranges of offsets again. */
    void planFor(OpenTopic topic);
}
