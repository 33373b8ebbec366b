package com.lsqlrunner.realtime;

import com.lsqlrunner.errors.Unchecked;
import com.lsqlrunner.operators.TaskBatch;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.expressions.CodegenObjectFactoryMode$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.SparkDataStream;
import org.apache.spark.sql.execution.CollectMetricsExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDD;
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDDPartition;
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2ScanRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata;
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadataBase;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStats;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStatsAccum;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeWatermarkExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.StateStoreWriter;
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperator;
import org.apache.spark.sql.execution.streaming.runtime.IncrementalExecution;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamExecutionContext;
import org.apache.spark.sql.execution.streaming.runtime.WatermarkPropagator;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.util.AccumulatorContext;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.collection.mutable.Map$;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractPartialFunction;

/**
 * The plan of an open batch: Spark's plan of the batch, with operators that return the result of each row at once. It
 * does not depend on the records before the batch, so it can be made while the batch before is open.
 */
final class OpenPlan {
    /** Operators that return their rows at once, and keep none for the end of a batch. */
    private static final Set<String> BY_ROW = Set.of(
            "CollectMetricsExec",
            "DeserializeToObjectExec",
            "EventTimeWatermarkExec",
            "ExpandExec",
            "FilterExec",
            "GenerateExec",
            "InputAdapter",
            "MapPartitionsExec", // PartialAggregation
            "MicroBatchScanExec",
            "PlanLater", // the empty initial state of a TransformWithStateExec
            "ProjectAggregationBufferExec",
            "ProjectExec",
            "SerializeFromObjectExec",
            "ShuffleExchangeExec",
            "StatefulStreamlineAggregateExec",
            "TransformWithStateExec",
            "UnionExec",
            "WholeStageCodegenExec");

    /** Metrics of the state that have to be added to those of Spark's batch. */
    private static final List<String> ADDED = List.of("numUpdatedStateRows", "numRowsDroppedByWatermark");

    /** A stage without its last one writes to an exchange. */
    record Stage(ByteBuffer rdd, Partition[] partitions, int shuffle, int targets) {
        static final int LAST = -1;
    }

    private final long batch;
    private final SparkPlan plan;
    private final Map<OpenStream, OpenTopic> topics = new IdentityHashMap<>();
    private final List<Stage> stages = new ArrayList<>();
    private final Properties settings = new Properties();

    /**
     * Plans a batch, in the thread of its query.
     *
     * @param watermarkMs of the batch before it: rows up to it are late
     */
    OpenPlan(MicroBatchExecution query, long batch, long watermarkMs) {
        this.batch = batch;
        SparkSession session = (SparkSession) org.apache.spark.sql.SparkSession.active();
        String mode = session.conf().get(SQLConf.CODEGEN_FACTORY_MODE().key());
        OpenStateStores.plan(session);
        // Else observed metrics leave out what is added to them after the batch.
        session.conf()
                .set(SQLConf.LEGACY_OBSERVE_METRICS_AGGREGATE_ALL_ATTEMPTS().key(), true);
        session.conf().set(TaskBatch.BY_ROW, true);
        session.conf()
                .set(
                        SQLConf.CODEGEN_FACTORY_MODE().key(),
                        CodegenObjectFactoryMode$.MODULE$.FALLBACK().toString());
        try {
            plan = executionOf(query, session, watermarkMs).executedPlan();
            addStages(plan.execute());
            CollectionConverters.asJava(session.conf().getAll()).forEach((name, value) -> {
                if (name.startsWith("spark.sql.")) {
                    settings.setProperty(name, value); // operators read them in the properties of their task
                }
            });
        } finally {
            session.conf().unset(TaskBatch.BY_ROW);
            session.conf().set(SQLConf.CODEGEN_FACTORY_MODE().key(), mode);
            topics.keySet().forEach(stream -> stream.planFor(null));
        }
    }

    long batch() {
        return batch;
    }

    /**
     * The newest watermark after the batch, of several inputs. An input without records gets the time of the others.
     *
     * @param watermarkMs the one before it
     * @param seen the event times that the tasks have read so far
     */
    long watermarkMs(long watermarkMs, Collection<EventTimeStatsAccum> seen) {
        return nodes(plan, EventTimeWatermarkExec.class).stream()
                .flatMapToLong(node -> seen.stream()
                        .filter(times -> times.id() == node.eventTimeStats().id() && !times.isZero())
                        .mapToLong(times -> times.value().max() - node.delayMs()))
                .reduce(watermarkMs, Math::max);
    }

    List<Stage> stages() {
        return stages;
    }

    Properties settings() {
        return settings;
    }

    Map<OpenStream, OpenTopic> topics() {
        return topics;
    }

    /** The plan is not opened any more. */
    void close() {
        topics.values().forEach(OpenTopic::close);
    }

    /** The name of an operator that keeps rows until the end of a batch; null if the plan has none. */
    String blocking() {
        return nodes(plan, SparkPlan.class).stream()
                .map(node -> node.getClass().getSimpleName())
                .filter(name -> !BY_ROW.contains(name))
                .findFirst()
                .orElse(null);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private IncrementalExecution executionOf(MicroBatchExecution query, SparkSession session, long watermarkMs) {
        StreamExecutionContext context = query.getLatestExecutionContext();
        LogicalPlan logical = query.logicalPlan().children().head().transform(new Leaves(context));
        Option<OffsetSeqMetadataBase> metadata = Option.apply(new OffsetSeqMetadata(
                watermarkMs,
                System.currentTimeMillis(),
                context.offsetSeqMetadata().conf()));
        return new IncrementalExecution(
                session,
                logical,
                query.outputMode(),
                query.checkpointFile("state"),
                query.id(),
                query.runId(),
                batch,
                metadata,
                metadata.get(),
                WatermarkPropagator.apply(session.sessionState().conf()),
                false,
                Map$.MODULE$.empty(),
                (scala.collection.mutable.Map) hidden(query, "stateSchemaMetadatas"),
                IncrementalExecution.$lessinit$greater$default$14(),
                false,
                true);
    }

    static Object hidden(MicroBatchExecution query, String name) {
        try {
            var method = MicroBatchExecution.class.getDeclaredMethod(name);
            method.setAccessible(true);
            return method.invoke(query);
        } catch (ReflectiveOperationException changed) {
            throw Unchecked.thrown(changed);
        }
    }

    /** Replaces the scans of a batch. */
    private final class Leaves extends AbstractPartialFunction<LogicalPlan, LogicalPlan> {
        private final StreamExecutionContext context;

        Leaves(StreamExecutionContext context) {
            this.context = context;
        }

        @Override
        public boolean isDefinedAt(LogicalPlan node) {
            return node instanceof StreamingDataSourceV2ScanRelation;
        }

        @Override
        public LogicalPlan apply(LogicalPlan node) {
            StreamingDataSourceV2ScanRelation leaf = (StreamingDataSourceV2ScanRelation) node;
            SparkDataStream stream = leaf.stream();
            if (stream instanceof OpenStream open) {
                open.planFor(topics.computeIfAbsent(open, OpenTopic::new));
            }
            Option<Offset> start = context.startOffsets().get(stream);
            return leaf.copy(leaf.relation(), leaf.scan(), leaf.output(), stream, start, start);
        }
    }

    private void addStages(RDD<?> last) {
        Set<ShuffleDependency<?, ?, ?>> shuffles = new LinkedHashSet<>();
        addShuffles(last, shuffles, new LinkedHashSet<>());
        for (ShuffleDependency<?, ?, ?> shuffle : shuffles) {
            addStage(shuffle.rdd(), shuffle.shuffleId(), shuffle.partitioner().numPartitions());
        }
        addStage(last, Stage.LAST, 0);
    }

    private static void addShuffles(RDD<?> rdd, Set<ShuffleDependency<?, ?, ?>> shuffles, Set<RDD<?>> seen) {
        if (!seen.add(rdd)) {
            return;
        }
        for (Dependency<?> dependency : CollectionConverters.asJava(rdd.dependencies())) {
            addShuffles(dependency.rdd(), shuffles, seen);
            if (dependency instanceof ShuffleDependency<?, ?, ?> shuffle) {
                shuffles.add(shuffle);
            }
        }
    }

    private void addStage(RDD<?> rdd, int shuffle, int targets) {
        countReaders(rdd);
        ByteBuffer serialized =
                SparkEnv.get().closureSerializer().newInstance().serialize(rdd, ClassTag$.MODULE$.apply(RDD.class));
        stages.add(new Stage(serialized, rdd.partitions(), shuffle, targets));
    }

    /** Counts the tasks of a stage that read each topic. */
    private static void countReaders(RDD<?> rdd) {
        if (rdd instanceof DataSourceRDD source) {
            for (Partition partition : source.partitions()) {
                OpenTopic.addReader(
                        ((DataSourceRDDPartition) partition).inputPartition().get());
            }
        }
        for (Dependency<?> dependency : CollectionConverters.asJava(rdd.dependencies())) {
            if (!(dependency instanceof ShuffleDependency<?, ?, ?>)) {
                countReaders(dependency.rdd());
            }
        }
    }

    /**
     * Adds what the tasks have seen to the plan of the batch that Spark has run: event times, observed metrics, and
     * metrics of the state.
     *
     * @param limitMs the time past which the event time must not advance
     */
    @SuppressWarnings({"unchecked", "rawtypes"})
    void addTo(SparkPlan ran, long limitMs) {
        Map<Object, EventTimeWatermarkExec> times = new HashMap<>();
        nodes(plan, EventTimeWatermarkExec.class).forEach(each -> times.put(each.nodeId(), each));
        nodes(ran, EventTimeWatermarkExec.class)
                .forEach(each -> each.eventTimeStats().merge(limited(times.get(each.nodeId()), limitMs)));
        Map<String, AccumulatorV2> metrics = new HashMap<>();
        nodes(plan, CollectMetricsExec.class).forEach(each -> metrics.put(each.name(), accumulator(each)));
        nodes(ran, CollectMetricsExec.class).forEach(each -> accumulator(each).merge(metrics.get(each.name())));
        Map<Long, SparkPlan> states = new HashMap<>();
        nodes(plan, StateStoreWriter.class).forEach(each -> states.put(operator(each), (SparkPlan) each));
        nodes(ran, StateStoreWriter.class).forEach(each -> addMetrics(states.get(operator(each)), (SparkPlan) each));
    }

    private static AccumulatorV2<?, ?> accumulator(CollectMetricsExec metrics) {
        return AccumulatorContext.get(metrics.accumulatorId()).get();
    }

    private static long operator(StatefulOperator operator) {
        return operator.getStateInfo().operatorId();
    }

    private static void addMetrics(SparkPlan from, SparkPlan to) {
        ADDED.forEach(name -> {
            SQLMetric added = from.metrics().get(name).getOrElse(() -> null);
            if (added != null && added.value() > 0) {
                to.metrics().apply(name).add(added.value());
            }
        });
    }

    private static EventTimeStatsAccum limited(EventTimeWatermarkExec seen, long limitMs) {
        EventTimeStatsAccum stats = seen.eventTimeStats();
        EventTimeStats all = stats.value();
        if (all.count() > 0 && all.max() > limitMs) {
            stats.reset();
            stats.add(Math.max(0, limitMs));
        }
        return stats;
    }

    private static <T> List<T> nodes(SparkPlan plan, Class<T> kind) {
        List<T> nodes = new ArrayList<>();
        plan.foreach(node -> {
            if (kind.isInstance(node)) {
                nodes.add(kind.cast(node));
            }
            return null;
        });
        return nodes;
    }
}
