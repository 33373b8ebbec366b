package com.lsqlrunner.continuous;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.delivery.TargetEnds;
import com.lsqlrunner.delivery.TransactionalOutput;
import com.lsqlrunner.expression.CurrentTime;
import com.lsqlrunner.fs.Owner;
import com.lsqlrunner.topic.KafkaOptions;
import com.lsqlrunner.topic.MarkedReader;
import com.lsqlrunner.topic.MarkedStart;
import com.lsqlrunner.topic.Positions;
import com.lsqlrunner.topic.TopicConsumer;
import com.lsqlrunner.topic.TopicOutput;
import com.lsqlrunner.topic.TopicPartitions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A query without state whose tasks run until it is stopped. It is a Spark batch query over topics that end when the
 * query is stopped. Spark plans it once, and it writes each record as soon as it has read it.
 *
 * <p>Python opens it, adds its topics, starts it, and saves its progress.
 */
@PythonEntry
public final class ContinuousQuery {
    private static final ConcurrentMap<String, ContinuousQuery> QUERIES = new ConcurrentHashMap<>();
    private static final Duration FIND_PARTITIONS = Duration.ofSeconds(10);

    /** The interval for reading the ends of the targets. */
    private static final Duration TARGET_OFFSETS = Duration.ofSeconds(5);

    private final String name;
    private final Map<String, ContinuousTopic> topics = new LinkedHashMap<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final TransactionalOutput transactions;

    /** Ends of the targets. No task had read beyond these positions when the targets had these ends. */
    private TargetEnds targetEnds;

    private Map<TopicPartition, Long> readAtTargetEnds = Map.of();

    /** The positions after the records whose results an earlier process has written. */
    private final Map<TopicPartition, Long> writtenBefore = new HashMap<>();

    private long targetEndsNanos = System.nanoTime();
    private ContinuousTask.Written unreported = new ContinuousTask.Written();
    private Map<TopicPartition, Long> reported = Map.of();
    private volatile SparkContext context;
    private volatile boolean isStarted;
    private final AtomicReference<Throwable> error = new AtomicReference<>();

    private ContinuousQuery(String name) {
        this.name = name;
        this.transactions = TopicOutput.transactions(name);
    }

    /**
     * Opens a query, after its {@link TopicOutput}.
     *
     * @param name of its output
     */
    public static ContinuousQuery open(String name) {
        ContinuousQuery query = new ContinuousQuery(name);
        QUERIES.put(name, query);
        return query;
    }

    /** A topic of an open query. */
    static ContinuousTopic topic(String query, String topic) {
        return QUERIES.get(query).topics.get(topic);
    }

    /**
     * Adds a topic that the query reads.
     *
     * @param options of {@code TopicSource}, and {@code mark.offsets}: the most offsets of a partition that are read
     *     with marks
     * @param log the folder of the checkpoint with the first offsets of the topic
     * @param position the JSON of the offsets to continue at; null to begin at {@link TopicPartitions#initial}
     * @param tasks the most tasks that read the topic for one INSERT
     */
    public void addTopic(String topic, Map<String, String> options, String log, String position, int tasks) {
        CaseInsensitiveStringMap all = new CaseInsensitiveStringMap(options);
        TopicPartitions partitions = new TopicPartitions(all);
        Map<TopicPartition, Long> starts =
                Positions.of(position == null ? partitions.initial(log) : Positions.parse(position));
        Map<TopicPartition, Long> ends = partitions.ends(starts);
        partitions.ranges(starts, ends); // checks the positions: partitions and records may have been deleted
        addWritten(ends);
        Map<String, Object> settings = KafkaOptions.ofConsumerWithoutGroup(options);
        String id = options.getOrDefault("topic.id", "");
        String markFile = options.get("mark");
        MarkedStart marked = markFile == null
                ? null
                : MarkedStart.of(
                        Path.of(markFile),
                        starts,
                        ends,
                        all.getLong("mark.offsets", 0),
                        () -> new TopicConsumer(MarkedReader.settings(settings), topic, id));
        topics.put(
                topic,
                new ContinuousTopic(
                        partitions,
                        starts,
                        Math.max(1, Math.min(tasks, starts.size())),
                        all.getBoolean("failOnDataLoss", true),
                        transactions,
                        () -> new TopicConsumer(settings, topic, id),
                        marked));
    }

    /** Adds the positions that an earlier process has reached in a topic. */
    private void addWritten(Map<TopicPartition, Long> ends) {
        if (transactions != null && transactions.written() != null) {
            Map<TopicPartition, Long> written = transactions.written().ends();
            ends.forEach((partition, end) ->
                    writtenBefore.put(partition, Math.min(end, written.getOrDefault(partition, 0L))));
        }
    }

    /**
     * Starts the query.
     *
     * @param records with the columns of the sink
     * @param sink the name of its class
     * @param options of the sink
     */
    public void start(Dataset<Row> records, String sink, Map<String, String> options) {
        DataFrameWriter<Row> writer = CurrentTime.perRow(records)
                .write()
                .format(sink)
                .options(options)
                .mode("append");
        context = records.sparkSession().sparkContext();
        isStarted = true;
        daemon("continuous " + name, () -> run(writer)).start();
        daemon("partitions of " + name, this::findPartitions).start();
    }

    private static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
    }

    private void run(DataFrameWriter<Row> writer) {
        try {
            context.setJobGroup(name, name, true);
            writer.save();
        } catch (Throwable failure) { // Python reports every kind of error
            error.compareAndSet(null, failure);
        } finally {
            topics.values().forEach(ContinuousTopic::stop); // the tasks that have not failed
            ended.countDown();
        }
    }

    private void findPartitions() {
        try {
            while (!ended.await(FIND_PARTITIONS.toMillis(), TimeUnit.MILLISECONDS)) {
                for (ContinuousTopic topic : topics.values()) {
                    topic.findPartitions();
                }
            }
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException failure) {
            error.compareAndSet(null, failure);
            topics.values().forEach(ContinuousTopic::stop);
        }
    }

    /** Whether the query runs. */
    public boolean isActive() {
        return isStarted && ended.getCount() > 0;
    }

    /** Why the query ended; null if it runs or was stopped. */
    public Throwable error() {
        return error.get();
    }

    /**
     * The progress since the last call, as JSON with the fields positions, recordsIn, recordsOut and failedRecords;
     * null without progress.
     *
     * @param batch the id with which the positions will be saved
     */
    public synchronized String progress(long batch) {
        Owner.checkOnVolume();
        ContinuousTask.Written written = unreported;
        topics.values().forEach(topic -> topic.takeWritten(written));
        if (transactions != null) {
            saveTargetOffsets(batch, written.positions);
        }
        if (written.positions.equals(reported) && written.failed.isEmpty()) {
            return null; // an INSERT may have written records that another INSERT has not
        }
        unreported = new ContinuousTask.Written();
        reported = Map.copyOf(written.positions);
        StringBuilder json = new StringBuilder("{\"positions\":")
                .append(new Positions(written.positions).json())
                .append(",\"recordsIn\":")
                .append(written.recordsIn)
                .append(",\"recordsOut\":")
                .append(written.recordsOut)
                .append(",\"failedRecords\":{");
        String separator = "";
        for (Map.Entry<String, Long> count : written.failed.entrySet()) {
            json.append(separator)
                    .append('"')
                    .append(count.getKey())
                    .append("\":")
                    .append(count.getValue());
            separator = ",";
        }
        return json.append("}}").toString();
    }

    /**
     * Saves ends of the targets from time to time. All records from later positions than the saved positions must be
     * after these ends. This is so when the saved positions have reached everything that was read when the targets had
     * these ends.
     */
    private void saveTargetOffsets(long batch, Map<TopicPartition, Long> positions) {
        if (TransactionalOutput.areReached(writtenBefore, positions)) {
            transactions.forgetWrittenBefore();
        }
        if (targetEnds == null) {
            if (System.nanoTime() - targetEndsNanos >= TARGET_OFFSETS.toNanos()) {
                targetEndsNanos = System.nanoTime();
                try {
                    targetEnds = transactions.ends();
                } catch (KafkaException unreachable) {
                    return; // the older offsets are correct as well
                }
                readAtTargetEnds = new HashMap<>();
                topics.values().forEach(topic -> readAtTargetEnds.putAll(topic.polled()));
            }
        } else if (TransactionalOutput.areReached(writtenBefore, positions)
                && TransactionalOutput.areReached(readAtTargetEnds, positions)) {
            transactions.saveOffsets(batch + 1, targetEnds);
            targetEnds = null;
        }
    }

    /** Lets the tasks end after the records that they have read. Does not wait. */
    public void stop() {
        topics.values().forEach(ContinuousTopic::stop);
    }

    /** Ends the tasks, also those that wait for a broker. */
    public void cancel() {
        stop();
        if (isActive()) {
            context.cancelJobGroup(name);
        }
    }

    /**
     * Waits for the end.
     *
     * @return whether the query has ended within the time
     */
    public boolean awaitEnd(long ms) throws InterruptedException {
        return !isStarted || ended.await(ms, TimeUnit.MILLISECONDS);
    }

    /** Releases the resources of the query, after its end. */
    public void close() {
        QUERIES.remove(name, this);
        topics.values().forEach(ContinuousTopic::close);
    }
}
