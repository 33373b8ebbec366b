package com.lsqlrunner.realtime;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.delivery.OffsetsByTopic;
import com.lsqlrunner.topic.Positions;
import java.time.Duration;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.SerializedOffset;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Processes the records of a query as they arrive, while it has no backlog: one {@link OpenBatch} after the other. Its
 * query's thread calls all methods but {@link #stop}.
 */
public final class RealTime {
    /** With a larger backlog, batches are faster. */
    private static final long MOST_BACKLOG = 10_000;

    /** The longest time between two checks of the topics. */
    private static final Duration CHECK = Duration.ofSeconds(10);

    /** The longest time between two checks of the backlog. */
    private static final Duration LAG = Duration.ofSeconds(1);

    /** The longest time between two checks whether results are due. */
    private static final Duration RESULTS = Duration.ofMillis(200);

    /** A batch is closed when there was no record for this time: then its end delays none. */
    private static final Duration PAUSE = Duration.ofSeconds(5);

    private static final ObjectMapper JSON = new ObjectMapper();

    private static volatile Consumer<String> reports = report -> {};

    /** Python keeps a thread for each thread of the JVM that has called it, for some time. */
    private static final ExecutorService REPORTER = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "reports of open batches");
        thread.setDaemon(true);
        return thread;
    });

    private static final ConcurrentMap<String, RealTime> QUERIES = new ConcurrentHashMap<>();

    private final Duration openFor;

    /** Whether a backlog has to be processed in the order of its timestamps. */
    private final boolean isOrdered;

    private final FinalResults results;

    /** Whether the records that are new now have arrived since the last batch, or while one was open. */
    private boolean hasCaughtUp;

    /** Where results are written; null before the first batch is planned, and if tasks run in other JVMs. */
    private OpenOutput output;

    private MicroBatchExecution query;

    /** The plan of the next batch; null before it is made. */
    private OpenPlan next;

    private volatile OpenBatch open;

    /** The batch that Spark runs next, if it has been processed. */
    private OpenBatch closed;

    private long limitMs = Long.MAX_VALUE;
    private volatile boolean isStopping;

    /** Spark has something else to do than to read records. */
    private volatile boolean isAskedFor;

    private boolean isIdle;

    /** An operator that keeps rows until the end of a batch; then the query only has batches. */
    private String blocking;

    private RealTime(Duration openFor, boolean isOrdered, FinalResults results) {
        this.openFor = openFor;
        this.isOrdered = isOrdered;
        this.results = results;
    }

    /**
     * The real time of a query.
     *
     * @param openFor how long a batch is open after its first record
     * @param isOrdered whether the topics are joined: a batch processes their records in the order of their timestamps,
     *     an open one in that of their arrival
     * @param results that wait for the watermark
     */
    public static RealTime open(String query, Duration openFor, boolean isOrdered, FinalResults results) {
        return QUERIES.computeIfAbsent(query, name -> new RealTime(openFor, isOrdered, results));
    }

    /** The real time of a query; null for a query with batches only. */
    public static RealTime of(String query) {
        return QUERIES.get(query);
    }

    /** The query has ended. */
    public static void close(String query) {
        RealTime ended = QUERIES.remove(query);
        if (ended != null) {
            ended.end();
        }
    }

    private void end() {
        if (next != null) {
            next.close();
        }
        if (closed != null) { // the query has failed before Spark has run the batch
            closed.plan().close();
        }
        if (query != null) {
            OpenStateStores.end(query.checkpointFile("state"));
        }
    }

    /** Sets who takes reports of open batches: each second, {@link Report} as JSON. */
    public static void reportTo(Consumer<String> consumer) {
        reports = consumer;
    }

    /**
     * What an open batch has processed so far.
     *
     * @param name of the query
     * @param positions the next offsets to read, by topic and number of the partition
     */
    private record Report(
            String name, long openBatch, long recordsIn, long recordsOut, Map<String, Map<Integer, Long>> positions) {}

    private void report(OpenBatch batch) {
        Report report = new Report(
                query.name(), next.batch(), batch.records(), batch.written(), OffsetsByTopic.of(batch.reached()));
        REPORTER.execute(() -> {
            try {
                reports.accept(JSON.writeValueAsString(report));
            } catch (JsonProcessingException | RuntimeException lost) {
                // The next report has the totals, and Spark's report of the batch does not count on this one.
            }
        });
    }

    /** Sets where results are written. */
    public void writeTo(OpenOutput target) {
        output = target;
    }

    /** Whether the last batch has advanced the watermark so that results are due: the next one writes them. */
    public boolean hasResults() {
        if (!results.areAwaited()) {
            return false;
        }
        findQuery();
        boolean hasRun = query.lastExecution() != null; // Spark runs no batch without records before another one
        return hasRun
                && results.areDue(lastWatermarkMs(), query.watermarkTracker().currentWatermark());
    }

    /** Whether the next batch can be open. */
    public boolean isPossible(long backlog) {
        boolean isBacklog = backlog > MOST_BACKLOG || (isOrdered && !hasCaughtUp && backlog > 0);
        hasCaughtUp = !isBacklog;
        if (isStopping || output == null || output.isRepeating() || blocking != null || isBacklog) {
            return false;
        }
        findQuery();
        planNext();
        blocking = next.blocking();
        boolean haveBegun = next.topics().keySet().stream()
                .noneMatch(stream -> starts().getOrDefault(stream, Map.of()).isEmpty());
        return blocking == null && haveBegun && !hasNewPartitions();
    }

    private void planNext() {
        if (next != null && next.batch() != nextBatch()) {
            next.close();
            next = null;
        }
        if (next == null) {
            next = new OpenPlan(query, nextBatch(), lastWatermarkMs());
        }
    }

    private long nextBatch() {
        return query.getLatestExecutionContext().batchId();
    }

    /** The watermark of the batch before the next one. */
    private long lastWatermarkMs() {
        return query.offsetLog()
                .offsetSeqMetadataForBatchId(nextBatch() - 1)
                .get()
                .batchWatermarkMs();
    }

    /**
     * Processes records as they arrive, and returns when Spark has to run the batch, or when there were no records for
     * some time.
     */
    public void process() throws InterruptedException {
        if (isAskedFor) {
            isAskedFor = false;
            return;
        }
        begin();
        OpenBatch batch = open;
        OpenPlan after = null;
        try {
            report(batch);
            after = await();
            batch.close();
        } catch (Throwable failed) {
            batch.abort();
            OpenStateStores.abort(query.checkpointFile("state"));
            if (after != null) {
                after.close();
            }
            throw failed;
        } finally {
            open = null;
            isAskedFor = false;
        }
        isIdle = batch.read() == 0;
        if (isIdle) {
            OpenStateStores.abort(query.checkpointFile("state"));
            return; // its plan is used again
        }
        closed = batch;
        next = after;
    }

    @SuppressWarnings("unchecked")
    private void begin() {
        Map<Object, String[][]> ids = new HashMap<>();
        CollectionConverters.asJava(
                        (scala.collection.Map<Object, String[][]>) OpenPlan.hidden(query, "currentStateStoreCkptId"))
                .forEach(ids::put);
        OpenStateStores.begin(query.checkpointFile("state"), ids);
        open = new OpenBatch(next, starts(), output.open(next.batch()), output.commitInterval());
    }

    private Map<OpenStream, Map<TopicPartition, Long>> starts() {
        Map<OpenStream, Map<TopicPartition, Long>> starts = new IdentityHashMap<>();
        CollectionConverters.asJava(query.getLatestExecutionContext().startOffsets())
                .forEach((stream, offset) -> {
                    if (stream instanceof OpenStream topic) {
                        boolean isOfLog = offset instanceof SerializedOffset; // before the first batch of a process
                        starts.put(topic, Positions.of(isOfLog ? stream.deserializeOffset(offset.json()) : offset));
                    }
                });
        return starts;
    }

    /**
     * Waits until the batch has to be closed.
     *
     * @return the plan of the batch after it; null if there was no time for it
     */
    private OpenPlan await() throws InterruptedException {
        OpenBatch batch = open;
        OpenPlan after = null;
        long checked = System.nanoTime();
        long reported = checked;
        long first = 0;
        long last = 0;
        long read = 0;
        while (!isStopping && !batch.hasFailed()) {
            long now = System.nanoTime();
            if (batch.read() > read) {
                first = read == 0 ? now : first;
                last = now;
                read = batch.read();
            }
            boolean hasRead = read > 0;
            boolean isDue = hasRead
                    && (now - first >= openFor.toNanos()
                            || now - last >= PAUSE.toNanos()
                            || (now - first >= LAG.toNanos() && areResultsDue(batch))
                            || batch.lag() > MOST_BACKLOG);
            if (isDue || isAskedFor) {
                return after;
            }
            if (now - checked >= CHECK.toNanos()) {
                checked = now;
                if (!hasRead || hasNewPartitions()) {
                    return after;
                }
            }
            if (hasRead && after == null && now - first >= LAG.toNanos()) {
                // The tasks do their work meanwhile.
                after = new OpenPlan(
                        query, next.batch() + 1, query.watermarkTracker().currentWatermark());
            }
            if (hasRead && now - reported >= LAG.toNanos()) {
                reported = now;
                report(batch);
            }
            batch.await(results.areAwaited() ? RESULTS : LAG);
        }
        return after;
    }

    private boolean areResultsDue(OpenBatch batch) {
        long watermarkMs = query.watermarkTracker().currentWatermark();
        return results.areAwaited() && results.areDue(watermarkMs, batch.watermarkMs(watermarkMs));
    }

    private boolean hasNewPartitions() {
        return next.topics().keySet().stream().anyMatch(OpenStream::hasNewPartitions);
    }

    private void findQuery() {
        if (query != null) {
            return;
        }
        String id = SparkSession.active().sparkContext().getLocalProperty("sql.streaming.queryId");
        query = (MicroBatchExecution) ((StreamingQueryWrapper)
                        SparkSession.getDefaultSession().get().streams().get(UUID.fromString(id)))
                .streamingQuery();
    }

    /** Closes the open batch; Spark runs it. No batch is opened any more. */
    public void stop() {
        isStopping = true;
        wake();
    }

    /** Closes the open batch soon, because Spark has something else to do than to read records. */
    public void ask() {
        isAskedFor = true;
        wake();
    }

    /** Closes the open batch soon if it has records, because somebody waits for its state. */
    public void save() {
        OpenBatch batch = open;
        if (batch != null && batch.read() > 0) {
            ask();
        }
    }

    private void wake() {
        OpenBatch batch = open;
        if (batch != null) {
            batch.wake();
        }
    }

    /** Whether the last open batch has read no record. */
    public boolean isIdle() {
        return isIdle;
    }

    /** Whether the batch that Spark plans has been processed. */
    public boolean isClosed() {
        return closed != null;
    }

    /** The number of results of the processed batch; 0 if Spark runs another one. */
    public long written() {
        return closed == null ? 0 : closed.written();
    }

    /** The end of the processed batch. */
    public Map<TopicPartition, Long> ends(OpenStream stream) {
        return closed.ends(stream);
    }

    /** The number of records of a stream that the processed batch has read. */
    public long records(OpenStream stream) {
        return closed.plan().topics().get(stream).records();
    }

    /** Sets the time past which the processed batch must not advance the event time. */
    public void limitEventTime(long toMs) {
        limitMs = Math.min(limitMs, toMs);
    }

    /** Spark has run the processed batch. */
    public void batchEnded() {
        if (closed != null) {
            closed.plan().addTo(query.lastExecution().executedPlan(), limitMs);
            closed.plan().close();
            closed = null;
            limitMs = Long.MAX_VALUE;
        }
    }
}
