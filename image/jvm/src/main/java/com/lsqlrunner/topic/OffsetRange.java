package com.lsqlrunner.topic;

import java.io.Serializable;
import org.apache.kafka.common.TopicPartition;

/**
 * Some records of a partition.
 *
 * @param from the offset of the first record
 * @param until the offset after the last record
 */
public record OffsetRange(TopicPartition partition, long from, long until) implements Serializable {
    private static final long serialVersionUID = 1L;

    public long size() {
        return until - from;
    }
}
