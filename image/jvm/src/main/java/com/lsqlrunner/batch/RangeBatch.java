package com.lsqlrunner.batch;

import com.lsqlrunner.topic.OffsetRange;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;

/** Ranges of offsets of a topic as a batch. Spark's source plans it; our consumers read it. */
public record RangeBatch(Batch kafka) implements Batch {
    @Override
    public InputPartition[] planInputPartitions() {
        return Stream.of(kafka.planInputPartitions())
                .map(KafkaBatchInputPartition.class::cast)
                .map(each -> RangeReader.Task.of(each, null, "range", List.of(OffsetRange.of(each)), "", null, null))
                .toArray(InputPartition[]::new);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new RangeReader.Factory();
    }
}
