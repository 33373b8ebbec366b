package com.lsqlrunner.batch;

import com.lsqlrunner.topic.OffsetRange;
import com.lsqlrunner.topic.Positions;
import com.lsqlrunner.topic.TopicPartitions;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Ranges of offsets of a topic as a batch.
 *
 * @param options the JSON of positions {@code starts} and {@code ends}; without {@code ends} all records of a topic
 */
public record RangeBatch(CaseInsensitiveStringMap options) implements Batch {
    @Override
    public InputPartition[] planInputPartitions() {
        return ranges().stream()
                .map(each -> RangeReader.Task.of(options, null, "range", List.of(each), null, null))
                .toArray(InputPartition[]::new);
    }

    private List<OffsetRange> ranges() {
        try (TopicPartitions topic = new TopicPartitions(options)) {
            if (options.containsKey("ends")) {
                return topic.ranges(of("starts"), of("ends"));
            }
            Map<TopicPartition, Long> ends = topic.ends(Map.of());
            return topic.ranges(topic.begins(ends.keySet()), ends);
        }
    }

    private Map<TopicPartition, Long> of(String option) {
        return Positions.of(Positions.parse(options.get(option)));
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new RangeReader.Factory();
    }

    /** Without the options, which have credentials. */
    @Override
    public String toString() {
        return "ranges";
    }
}
