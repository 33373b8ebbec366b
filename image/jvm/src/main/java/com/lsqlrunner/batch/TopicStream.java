package com.lsqlrunner.batch;

import com.lsqlrunner.marks.MarkedBatch;
import com.lsqlrunner.realtime.FinalResults;
import com.lsqlrunner.realtime.OpenStateStores;
import com.lsqlrunner.realtime.OpenStream;
import com.lsqlrunner.realtime.OpenTopic;
import com.lsqlrunner.realtime.RealTime;
import com.lsqlrunner.tick.EventTimes;
import com.lsqlrunner.topic.KafkaOptions;
import com.lsqlrunner.topic.OffsetRange;
import com.lsqlrunner.topic.Positions;
import com.lsqlrunner.topic.ShorterTopic;
import com.lsqlrunner.topic.TopicConsumer;
import com.lsqlrunner.topic.TopicOutput;
import com.lsqlrunner.topic.TopicPartitions;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode$;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.BlockManagerId;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The stream of a topic, which plans the offsets of batches. Before it looks for new records, it waits until its query
 * may begin the next batch.
 */
public final class TopicStream implements MicroBatchStream, SupportsAdmissionControl, ReportsSourceMetrics, OpenStream {
    /** The metric with the time that the query waited before its batch, in milliseconds. */
    static final String WAITED = "waitedMs";

    /** The metric with the number of records that are too far in the future to advance the event time. */
    static final String FUTURE = "futureRecords";

    /** The metric with the number of records that an open batch has processed. */
    static final String PROCESSED = "processedRecords";

    /** The metric that is 1 for a batch whose results are not written. */
    static final String MUTED = "muted";

    /** How long a broker waits for a record, while a batch is open. */
    private static final int MAX_FETCH_MS = 1_000;

    private final CaseInsensitiveStringMap options;
    private final String log;
    private final TopicPartitions topic;
    private final BatchTrigger trigger;
    private final String name = UUID.randomUUID().toString();
    private final RangeGroups groups;
    private final boolean failOnDataLoss;
    private final MarkedBatch marked;
    private final List<EventTimes> eventTimes;
    private Map<TopicPartition, Long> ends = Map.of();
    private long waitedMs;
    private Map<TopicPartition, Long> positions = Map.of();
    private OpenTopic open;
    private Map<TopicPartition, Long> processed = Map.of();
    private long processedRecords;
    private final RealTime realTime;

    /** The delay of the watermark of each input. A batch without results limits how far they advance. */
    private final List<Long> delaysMs;

    /**
     * Joins the batches of its query.
     *
     * @param options of {@code TopicSource}
     * @param log the folder of the checkpoint with the first offsets of the topic
     */
    public TopicStream(CaseInsensitiveStringMap options, String log) {
        this.options = options;
        this.log = log;
        this.topic = new TopicPartitions(options);
        this.groups = new RangeGroups(SparkSession.active().sparkContext()::defaultParallelism);
        this.failOnDataLoss = options.getBoolean("failOnDataLoss", true);
        this.marked = new MarkedBatch(options.get("mark"));
        Duration pace = Duration.ofMillis(options.getLong("pace.ms", 0));
        this.eventTimes = EventTimes.begin(options.get("inputs"), options.getLong("max.future.ms", Long.MAX_VALUE));
        Map<String, String> sourceOptions = options.asCaseSensitiveMap();
        this.realTime = options.containsKey("open.ms")
                ? RealTime.open(
                        options.get("query"),
                        Duration.ofMillis(options.getLong("open.ms", 0)),
                        options.getBoolean("open.in.order", false),
                        new FinalResults(options.getLong("final.every.ms", 0), options.getLong("final.offset.ms", 0)))
                : null;
        this.trigger = BatchTrigger.join(options.get("query"), this, pace, () -> WaitingConsumer.open(sourceOptions));
        trigger.waitIn(realTime);
        this.delaysMs = options.getOrDefault("rebuild.delays.ms", "")
                .transform(text -> text.isEmpty()
                        ? List.of()
                        : Stream.of(text.split(",")).map(Long::valueOf).toList());
        if (options.containsKey("rebuild.ends")) {
            trigger.rebuild(this, new Rebuild(options), options.getBoolean("rebuild.first", false));
            limitEventTimes(Set.of());
        }
        beginPlan();
    }

    /** Spark may plan a batch without the scan of a topic, if the topic has no new records. */
    private void beginPlan() {
        if (realTime != null || options.getBoolean("state.read", false)) {
            OpenStateStores.plan(SparkSession.active());
        }
    }

    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
        positions = Positions.of(start);
        processed = Map.of();
        processedRecords = 0;
        waitedMs = marked.isPending() ? trigger.begin(this, positions) : trigger.await(this, positions);
        beginPlan(); // the plan of the next open batch may have been made meanwhile
        ends = topic.ends(positions);
        if (!failOnDataLoss) { // else the planning of the records fails
            ShorterTopic.check(positions, ends);
        }
        if (realTime != null && realTime.isClosed()) {
            processed = realTime.ends(this);
            processedRecords = realTime.records(this);
            Set<TopicPartition> unread = trigger.planned(this, processed, ends);
            eventTimes.forEach(each -> {
                each.planned(unread);
                realTime.limitEventTime(each.limitMs());
            });
            chooseEvaluation(0); // the batch has no records left
            return new Positions(processed);
        }
        if (trigger.isStopping() && start != null) { // a batch that was planned and has not run would be left behind
            return start;
        }
        boolean isLimited =
                limit instanceof ReadMaxRows && (marked.isPending() || !TopicOutput.wasOpen(options.get("query")));
        Map<TopicPartition, Long> until = trigger.within(this, positions, ends);
        Offset end = new Positions(isLimited ? limited(((ReadMaxRows) limit).maxRows(), positions, until) : until);
        if (!Positions.of(end).equals(ends)) {
            TopicOutput.planPartial(options.get("query"));
        }
        marked.planned(start, end);
        Set<TopicPartition> unread = trigger.planned(this, Positions.of(end), ends);
        eventTimes.forEach(each -> each.planned(unread));
        if (trigger.isRebuilding()) {
            unread.removeIf(each -> !trigger.isToBeRead(each, Positions.of(end).getOrDefault(each, 0L)));
            limitEventTimes(unread);
        }
        chooseEvaluation(trigger.plannedRecords());
        return end;
    }

    /**
     * Limits how far the next batch advances event time: to that of the replaced state, and to that of partitions with
     * records that are to be read again.
     */
    private void limitEventTimes(Set<TopicPartition> unread) {
        for (int index = 0; index < delaysMs.size(); index++) {
            EventTimes times = eventTimes.get(index);
            times.planned(unread);
            times.limit(Math.min(times.limitMs(), trigger.limitMs(delaysMs.get(index))));
        }
    }

    private Map<TopicPartition, Long> limited(
            long records, Map<TopicPartition, Long> positions, Map<TopicPartition, Long> until) {
        Set<TopicPartition> added = new HashSet<>(until.keySet());
        added.removeAll(positions.keySet());
        Map<TopicPartition, Long> from = new HashMap<>(topic.begins(added));
        from.putAll(positions);
        return RecordLimit.ends(records, from, until);
    }

    /**
     * Sets whether the batch compiles the code of small steps: keys of groups and of the shuffle, comparisons with the
     * watermark. For a few records, the interpreter costs less. The rest of the query is compiled in any case.
     */
    private void chooseEvaluation(long records) {
        boolean isSmall = records <= RangeGroups.SMALL;
        CodegenObjectFactoryMode$ modes = CodegenObjectFactoryMode$.MODULE$;
        SparkSession.active()
                .conf()
                .set(
                        SQLConf.CODEGEN_FACTORY_MODE().key(),
                        (isSmall ? modes.NO_CODEGEN() : modes.FALLBACK()).toString());
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> end) {
        Map<String, String> metrics = new HashMap<>();
        metrics.put(WAITED, Long.toString(waitedMs));
        if (trigger.isRebuilding()) {
            metrics.put(MUTED, "1");
        }
        if (processedRecords > 0) {
            metrics.put(PROCESSED, Long.toString(processedRecords));
        }
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
        RealTime.close(options.get("query"));
        eventTimes.forEach(EventTimes::end);
        RangeConsumers.close(name);
        topic.close();
    }

    @Override
    public Offset initialOffset() {
        return topic.initial(log);
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("latestOffset(Offset, ReadLimit) is called instead");
    }

    @Override
    public Offset reportLatestOffset() {
        return ends.isEmpty() ? null : new Positions(ends);
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return ReadLimit.maxRows(options.getLong("maxOffsetsPerTrigger", Long.MAX_VALUE));
    }

    @Override
    public Offset deserializeOffset(String json) {
        return Positions.parse(json);
    }

    /** Checks the offsets, and divides the ranges of partitions among fewer tasks. */
    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
        if (open != null) {
            return open.plan();
        }
        if (!processed.isEmpty() && processed.equals(Positions.of(end))) {
            return new InputPartition[0];
        }
        List<OffsetRange> ranges = topic.ranges(Positions.of(start), Positions.of(end));
        if (ranges.isEmpty()) {
            return new InputPartition[0];
        }
        String mark = marked.placeOf(start);
        List<String> workers = workers();
        List<List<OffsetRange>> tasks = groups.divide(ranges);
        InputPartition[] partitions = new InputPartition[tasks.size()];
        for (int index = 0; index < partitions.length; index++) {
            TopicPartition first = tasks.get(index).get(0).partition();
            partitions[index] = RangeReader.Task.of(
                    options,
                    name,
                    (index + 1) + "/" + partitions.length,
                    tasks.get(index),
                    mark,
                    workers.isEmpty() ? null : workers.get(Math.floorMod(first.hashCode(), workers.size())));
        }
        return partitions;
    }

    /** The executors of workers, in the form of a preferred location of a task. */
    private static List<String> workers() {
        BlockManager blocks = SparkEnv.get().blockManager();
        return CollectionConverters.asJava(blocks.master().getPeers(blocks.blockManagerId())).stream()
                .sorted(Comparator.comparing(BlockManagerId::host).thenComparing(BlockManagerId::executorId))
                .map(each -> "executor_" + each.host() + "_" + each.executorId())
                .toList();
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return open == null ? new RangeReader.Factory() : new OpenTopic.Readers();
    }

    @Override
    public TopicConsumer newConsumer() {
        Map<String, Object> settings = KafkaOptions.ofConsumerWithoutGroup(options.asCaseSensitiveMap());
        settings.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, MAX_FETCH_MS);
        return new TopicConsumer(settings, topic.topic(), options.getOrDefault("topic.id", ""));
    }

    @Override
    public boolean hasNewPartitions() {
        return !topic.ends(positions).keySet().equals(positions.keySet());
    }

    @Override
    public boolean failsOnDataLoss() {
        return failOnDataLoss;
    }

    @Override
    public boolean isFirst() {
        return options.getBoolean("open.first", false);
    }

    @Override
    public void planFor(OpenTopic topicOfBatch) {
        eventTimes.forEach(each -> each.planned(Set.of())); // the batch limits them when it is closed
        open = topicOfBatch;
    }

    @Override
    public void commit(Offset end) {}

    @Override
    public String toString() {
        return "topic " + topic.topic();
    }
}
