package com.lsqlrunner.realtime;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.apache.spark.Partition;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.execution.streaming.operators.stateful.EventTimeStatsAccum;
import org.apache.spark.util.AccumulatorContext;
import org.apache.spark.util.AccumulatorV2;
import scala.Option;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * One partition of a stage of an open batch, computed in a thread of its own. Spark's scheduler does not know it: the
 * task only has what Spark's operators ask for, their context.
 */
final class OpenTask implements Runnable {
    /** What a task does with its rows. Its thread calls all methods. */
    interface Rows {
        Duration FOREVER = Duration.ofDays(1);

        void accept(Object row) throws Exception;

        /**
         * All rows have been accepted.
         *
         * @return the time after which the method must be called again
         */
        default Duration idle() {
            return FOREVER;
        }

        /** The task has no more rows. */
        void end() throws Exception;

        /** The task has failed. */
        default void fail() {}
    }

    private static final ThreadLocal<OpenTask> CURRENT = new ThreadLocal<>();

    /** Numbers that Spark's scheduler does not reach. */
    private static final AtomicLong IDS = new AtomicLong(Long.MAX_VALUE / 2);

    private final ByteBuffer serialized;
    private final Partition partition;
    private final Properties settings;
    private final Rows rows;
    private final OpenBatch batch;
    private volatile TaskContextImpl context;

    OpenTask(OpenBatch batch, ByteBuffer serialized, Partition partition, Properties settings, Rows rows) {
        this.batch = batch;
        this.serialized = serialized;
        this.partition = partition;
        this.settings = settings;
        this.rows = rows;
    }

    /** The task of this thread; null in threads of Spark's scheduler. */
    static OpenTask current() {
        return CURRENT.get();
    }

    Duration idle() {
        return rows.idle();
    }

    OpenBatch batch() {
        return batch;
    }

    @Override
    public void run() {
        CURRENT.set(this);
        long id = IDS.incrementAndGet();
        SparkEnv env = SparkEnv.get();
        env.blockManager().registerTask(id);
        TaskMemoryManager memory = new TaskMemoryManager(env.memoryManager(), id);
        context = new TaskContextImpl(
                0,
                0,
                partition.index(),
                id,
                0,
                1,
                memory,
                settings,
                env.metricsSystem(),
                TaskMetrics.empty(),
                scala.math.BigDecimal.valueOf(1),
                scala.collection.immutable.Map$.MODULE$.empty());
        Throwable failure = null;
        try {
            TaskContext$.MODULE$.setTaskContext(context);
            compute(env);
            rows.end();
        } catch (Throwable error) {
            failure = error;
            try {
                rows.fail();
            } catch (Throwable second) {
                error.addSuppressed(second);
            }
        } finally {
            try {
                context.markTaskCompleted(Option.apply(failure));
            } catch (Throwable error) {
                failure = failure == null ? error : failure;
            }
            TaskContext$.MODULE$.unset();
            memory.cleanUpAllAllocatedMemory();
            env.blockManager().releaseAllLocksForTask(id);
            CURRENT.remove();
            batch.ended(failure);
        }
    }

    private void compute(SparkEnv env) throws Exception {
        // Each task has a copy, as on executors: operators and expressions keep data of their task.
        RDD<?> rdd = env.closureSerializer()
                .newInstance()
                .deserialize(
                        serialized.duplicate(),
                        Thread.currentThread().getContextClassLoader(),
                        ClassTag$.MODULE$.apply(RDD.class));
        Iterator<?> iterator = rdd.iterator(partition, context);
        while (iterator.hasNext()) {
            rows.accept(iterator.next());
        }
    }

    /** The event times that the task has read so far. It adds to them meanwhile. */
    Stream<EventTimeStatsAccum> eventTimes() {
        TaskContextImpl task = context;
        return task == null
                ? Stream.empty()
                : CollectionConverters.asJava(task.taskMetrics().accumulators()).stream()
                        .filter(EventTimeStatsAccum.class::isInstance)
                        .map(EventTimeStatsAccum.class::cast);
    }

    /** Adds the values of the task's accumulators to those of the driver, after its end. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    void mergeAccumulators() {
        for (AccumulatorV2 each :
                CollectionConverters.asJava(context.taskMetrics().accumulators())) {
            Option<AccumulatorV2<?, ?>> ofDriver = AccumulatorContext.get(each.id());
            if (ofDriver.isDefined() && !each.isZero()) {
                ((AccumulatorV2) ofDriver.get()).merge(each);
            }
        }
    }
}
