package com.lsqlrunner.topic;

import java.io.Serializable;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;

/**
 * Some records of a partition.
 *
 * @param from the offset of the first record
 * @param until the offset after the last record
 */
public record OffsetRange(TopicPartition partition, long from, long until) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The range that Spark's source plans. */
    public static OffsetRange of(KafkaBatchInputPartition planned) {
        KafkaOffsetRange range = planned.offsetRange();
        return new OffsetRange(range.topicPartition(), range.fromOffset(), range.untilOffset());
    }

    public long size() {
        return until - from;
    }
}
