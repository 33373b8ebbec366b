package com.lsqlrunner.batch;

import com.lsqlrunner.marks.MarkedBatch;
import com.lsqlrunner.tick.EventTimes;
import com.lsqlrunner.topic.OffsetRange;
import com.lsqlrunner.topic.Positions;
import com.lsqlrunner.topic.ShorterTopic;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode$;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's stream of a topic, which plans the offsets of batches. Before it looks for new records, it waits until its
 * query may begin the next batch. The records are read with consumers of our own.
 */
public final class TopicStream implements MicroBatchStream, SupportsAdmissionControl, ReportsSourceMetrics {
    /** The metric with the time that the query waited before its batch, in milliseconds. */
    static final String WAITED = "waitedMs";

    /** The metric with the number of records that are too far in the future to advance the event time. */
    static final String FUTURE = "futureRecords";

    private final KafkaMicroBatchStream kafka;
    private final BatchTrigger trigger;
    private final String name = UUID.randomUUID().toString();
    private final RangeGroups groups;
    private final boolean failOnDataLoss;
    private final String topicId;
    private final MarkedBatch marked;
    private final List<EventTimes> eventTimes;
    private long waitedMs;

    public TopicStream(KafkaMicroBatchStream kafka, CaseInsensitiveStringMap options) {
        this.kafka = kafka;
        this.groups = new RangeGroups(SparkSession.active().sparkContext()::defaultParallelism);
        this.failOnDataLoss = options.getBoolean("failOnDataLoss", true);
        this.topicId = options.getOrDefault("topic.id", "");
        this.marked = new MarkedBatch(options.get("mark"));
        Duration pace = Duration.ofMillis(options.getLong("pace.ms", 0));
        this.eventTimes = EventTimes.begin(options.get("inputs"), options.getLong("max.future.ms", Long.MAX_VALUE));
        Map<String, String> sourceOptions = options.asCaseSensitiveMap();
        this.trigger = BatchTrigger.join(options.get("query"), this, pace, () -> WaitingConsumer.open(sourceOptions));
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        waitedMs = marked.isPending()
                ? trigger.begin(this, Positions.of(start))
                : trigger.await(this, Positions.of(start));
        Offset end = kafka.latestOffset(start, limit);
        if (!failOnDataLoss) { // else Spark's stream fails
            ShorterTopic.check(Positions.of(start), Positions.of(end));
        }
        marked.planned(start, end);
        Set<TopicPartition> unread = trigger.planned(this, Positions.of(end), Positions.of(kafka.reportLatestOffset()));
        eventTimes.forEach(each -> each.planned(unread));
        chooseEvaluation();
        return end;
    }

    /**
     * Sets whether the batch compiles the code of small steps: keys of groups and of the shuffle, comparisons with the
     * watermark. For a few records, the interpreter costs less. The rest of the query is compiled in any case.
     */
    private void chooseEvaluation() {
        boolean isSmall = trigger.plannedRecords() <= RangeGroups.SMALL;
        CodegenObjectFactoryMode$ modes = CodegenObjectFactoryMode$.MODULE$;
        SparkSession.active()
                .conf()
                .set(
                        SQLConf.CODEGEN_FACTORY_MODE().key(),
                        (isSmall ? modes.NO_CODEGEN() : modes.FALLBACK()).toString());
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> end) {
        Map<String, String> metrics = new HashMap<>(kafka.metrics(end));
        metrics.put(WAITED, Long.toString(waitedMs));
        long future = eventTimes.stream()
                .mapToLong(EventTimes::takeFutureRecords)
                .max()
                .orElse(0);
        if (future > 0) {
            metrics.put(FUTURE, Long.toString(future));
        }
        return metrics;
    }

    @Override
    public void stop() {
        trigger.leave(this);
        eventTimes.forEach(EventTimes::end);
        RangeConsumers.close(name);
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

    /** Spark's stream checks the offsets; its ranges, one for each partition, are divided among fewer tasks. */
    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        List<KafkaBatchInputPartition> planned = Stream.of(kafka.planInputPartitions(start, end))
                .map(KafkaBatchInputPartition.class::cast)
                .toList();
        if (planned.isEmpty()) {
            return new InputPartition[0];
        }
        KafkaBatchInputPartition first = planned.get(0);
        String mark = marked.placeOf(start);
        List<List<OffsetRange>> tasks =
                groups.divide(planned.stream().map(OffsetRange::of).toList());
        Map<TopicPartition, String> locations = new HashMap<>();
        planned.forEach(each -> locations.put(each.offsetRange().topicPartition(), location(each)));
        InputPartition[] partitions = new InputPartition[tasks.size()];
        for (int index = 0; index < partitions.length; index++) {
            partitions[index] = RangeReader.Task.of(
                    first,
                    name,
                    (index + 1) + "/" + partitions.length,
                    tasks.get(index),
                    topicId,
                    mark,
                    locations.get(tasks.get(index).get(0).partition()));
        }
        return partitions;
    }

    private static String location(KafkaBatchInputPartition planned) {
        String[] preferred = planned.preferredLocations();
        return preferred.length == 0 ? null : preferred[0];
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new RangeReader.Factory();
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
