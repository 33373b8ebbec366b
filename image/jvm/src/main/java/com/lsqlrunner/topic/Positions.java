package com.lsqlrunner.topic;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.kafka010.KafkaSourceOffset;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/** Offsets by partition, and Spark's form of them. */
public final class Positions {
    private Positions() {}

    /** The offsets of Spark's source; empty for other offsets, and before the first one. */
    public static Map<TopicPartition, Long> of(Offset offset) {
        Map<TopicPartition, Long> positions = new HashMap<>();
        if (offset instanceof KafkaSourceOffset ofTopic) {
            CollectionConverters.asJava(ofTopic.partitionToOffsets())
                    .forEach((partition, position) -> positions.put(partition, (Long) position));
        }
        return positions;
    }

    /** An offset of Spark's source. */
    public static KafkaSourceOffset spark(Map<TopicPartition, Long> positions) {
        Map<TopicPartition, Object> boxed = new HashMap<>(positions);
        return new KafkaSourceOffset(Map$.MODULE$.from(CollectionConverters.asScala(boxed)));
    }
}
