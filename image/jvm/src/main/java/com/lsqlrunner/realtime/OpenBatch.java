package com.lsqlrunner.realtime;

import com.lsqlrunner.errors.Unchecked;
import com.lsqlrunner.topic.Acknowledgements;
import com.lsqlrunner.topic.TopicWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.Partition;
import scala.Product2;

/**
 * The next batch of a query, while it is open: its records are processed as they arrive. When it is closed, Spark plans
 * and runs the batch; it has no records left to read then, and commits the changes of the state.
 */
final class OpenBatch {
    private final OpenPlan plan;
    private final List<RowExchange> exchanges = new ArrayList<>();
    private final List<OpenTask> tasks = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private int running;
    private Throwable failure;
    private long read;

    private final TablePositions tables;
    private final AtomicLong written = new AtomicLong();

    /**
     * Opens a batch.
     *
     * @param starts the next offsets to read of each stream
     * @param writers of results, for each task of the last stage
     * @param interval after which results are committed
     */
    OpenBatch(
            OpenPlan plan,
            Map<OpenStream, Map<TopicPartition, Long>> starts,
            Function<Acknowledgements, TopicWriter> writers,
            Duration interval) {
        this.plan = plan;
        plan.topics().forEach((stream, topic) -> topic.open(starts.get(stream)));
        List<OpenTopic> ofTables =
                plan.topics().values().stream().filter(OpenTopic::isFirst).toList();
        tables = new TablePositions(
                ofTables.stream().mapToInt(OpenTopic::readers).sum(),
                ofTables.stream()
                        .flatMap(topic -> topic.ends().keySet().stream())
                        .collect(Collectors.toSet()));
        for (OpenPlan.Stage stage : plan.stages()) {
            if (stage.shuffle() == OpenPlan.Stage.LAST) {
                add(stage, () -> new OpenWriter(writers, interval, this::hasWritten));
            } else {
                RowExchange exchange = RowExchange.open(stage.shuffle(), stage.targets(), stage.partitions().length);
                exchanges.add(exchange);
                add(stage, () -> new ExchangeRows(exchange));
            }
        }
        running = tasks.size();
        for (OpenTask task : tasks) {
            Thread thread = new Thread(task, "open batch " + plan.batch());
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    private void add(OpenPlan.Stage stage, Supplier<OpenTask.Rows> rows) {
        for (Partition partition : stage.partitions()) {
            tasks.add(new OpenTask(this, stage.rdd(), partition, plan.settings(), rows.get()));
        }
    }

    private record ExchangeRows(RowExchange exchange) implements OpenTask.Rows {
        @Override
        public void accept(Object row) throws InterruptedException {
            exchange.write((Product2<?, ?>) row);
        }

        @Override
        public void end() throws InterruptedException {
            exchange.endWriter();
        }
    }

    OpenPlan plan() {
        return plan;
    }

    /** A task has read a record. */
    synchronized void hasRead() {
        read++;
        if (read == 1) {
            notifyAll();
        }
    }

    TablePositions tables() {
        return tables;
    }

    /** A record has been written. Threads of producers call it. */
    void hasWritten() {
        written.incrementAndGet();
    }

    /** The number of records that the brokers have acknowledged. */
    long written() {
        return written.get();
    }

    /**
     * The watermark after the batch, from the event times that the tasks have read so far.
     *
     * @param before the batch
     */
    long watermarkMs(long before) {
        return plan.watermarkMs(
                before, tasks.stream().flatMap(OpenTask::eventTimes).toList());
    }

    /** The number of records of all topics that the tasks have read. */
    long records() {
        return plan.topics().values().stream().mapToLong(OpenTopic::records).sum();
    }

    /** The positions that the tasks have reached. */
    Map<TopicPartition, Long> reached() {
        Map<TopicPartition, Long> all = new HashMap<>();
        plan.topics().values().forEach(topic -> all.putAll(topic.reached()));
        return all;
    }

    /** The number of records that the tasks have read. */
    synchronized long read() {
        return read;
    }

    synchronized boolean hasFailed() {
        return failure != null;
    }

    /** The number of records that the tasks have not read, of the topic with most of them. */
    long lag() {
        return plan.topics().values().stream().mapToLong(OpenTopic::lag).max().orElse(0);
    }

    synchronized void ended(Throwable error) {
        running--;
        if (error != null && failure == null) {
            failure = error;
            interrupt();
        }
        notifyAll();
    }

    private void interrupt() {
        exchanges.forEach(RowExchange::abort);
        threads.forEach(Thread::interrupt);
        endTopics();
    }

    /** No reader of a stream goes on when the readers of a table have ended. */
    private void endTopics() {
        plan.topics().values().forEach(OpenTopic::end);
        tables.end();
        plan.topics().values().forEach(OpenTopic::wake);
    }

    /** Waits for a time, or until something happens: the first record, a failure, or {@link #wake}. */
    synchronized void await(Duration time) throws InterruptedException {
        wait(Math.max(1, time.toMillis()));
    }

    /** Ends {@link #await}. */
    synchronized void wake() {
        notifyAll();
    }

    /** Ends the tasks when they have written the results of all records that they have read, or when one has failed. */
    void close() throws InterruptedException {
        endTopics();
        awaitEnd();
        if (failure != null) {
            throw Unchecked.thrown(failure);
        }
        tasks.forEach(OpenTask::mergeAccumulators);
    }

    /** Ends the tasks, whatever they do. */
    void abort() throws InterruptedException {
        synchronized (this) {
            interrupt();
        }
        awaitEnd();
    }

    private void awaitEnd() throws InterruptedException {
        synchronized (this) {
            while (running > 0) {
                wait();
            }
        }
        exchanges.forEach(RowExchange::close);
    }

    /** The positions of a stream after {@link #close}. */
    Map<TopicPartition, Long> ends(OpenStream stream) {
        return plan.topics().get(stream).ends();
    }
}
