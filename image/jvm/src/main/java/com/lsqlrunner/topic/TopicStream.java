package com.lsqlrunner.topic;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaSourceOffset;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.jdk.javaapi.CollectionConverters;

/** Spark's stream of a topic. Before it looks for new records, it waits until its query may begin the next batch. */
final class TopicStream implements MicroBatchStream, SupportsAdmissionControl, ReportsSourceMetrics {
    /** The metric with the time that the query waited before its batch, in milliseconds. */
    static final String WAITED = "waitedMs";

    private final KafkaMicroBatchStream kafka;
    private final BatchTrigger trigger;
    private long waitedMs;

    TopicStream(KafkaMicroBatchStream kafka, CaseInsensitiveStringMap options) {
        this.kafka = kafka;
        Duration pace = Duration.ofMillis(options.getLong("pace.ms", 0));
        Map<String, String> sourceOptions = options.asCaseSensitiveMap();
        this.trigger = BatchTrigger.join(options.get("query"), this, pace, () -> WaitingConsumer.open(sourceOptions));
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        waitedMs = trigger.await(this, positions(start));
        Offset end = kafka.latestOffset(start, limit);
        trigger.planned(this, positions(end), positions(kafka.reportLatestOffset()));
        return end;
    }

    private static Map<TopicPartition, Long> positions(Offset offset) {
        Map<TopicPartition, Long> positions = new HashMap<>();
        if (offset instanceof KafkaSourceOffset ofTopic) {
            CollectionConverters.asJava(ofTopic.partitionToOffsets())
                    .forEach((partition, position) -> positions.put(partition, (Long) position));
        }
        return positions;
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> end) {
        Map<String, String> metrics = new HashMap<>(kafka.metrics(end));
        metrics.put(WAITED, Long.toString(waitedMs));
        return metrics;
    }

    @Override
    public void stop() {
        trigger.leave(this);
        kafka.stop();
    }

    @Override
    public Offset initialOffset() {
        return kafka.initialOffset();
    }

    @Override
    public Offset latestOffset() {
        return kafka.latestOffset();
    }

    @Override
    public Offset reportLatestOffset() {
        return kafka.reportLatestOffset();
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return kafka.getDefaultReadLimit();
    }

    @Override
    public Offset deserializeOffset(String json) {
        return kafka.deserializeOffset(json);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        return kafka.planInputPartitions(start, end);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return kafka.createReaderFactory();
    }

    @Override
    public void commit(Offset end) {
        kafka.commit(end);
    }

    @Override
    public String toString() {
        return kafka.toString();
    }
}
