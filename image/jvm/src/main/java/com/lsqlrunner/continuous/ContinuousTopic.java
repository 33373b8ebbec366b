package com.lsqlrunner.continuous;

import com.lsqlrunner.delivery.TransactionalOutput;
import com.lsqlrunner.topic.MarkedReader;
import com.lsqlrunner.topic.MarkedStart;
import com.lsqlrunner.topic.TopicPartitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * A topic of a continuous query: its partitions, the tasks that read them, and their positions. An INSERT that reads
 * the topic is a scan, with tasks of its own.
 */
final class ContinuousTopic {
    private static final Duration INTERVAL = Duration.ofMillis(50);

    private final TopicPartitions partitions;
    private final int tasks;
    private final boolean failOnDataLoss;
    private final Duration interval;
    private final boolean transactional;
    private final Supplier<Consumer<byte[], byte[]>> newConsumer;
    private final MarkedStart marked;

    /** By task, then by partition: where the query begins. Replaced as a whole when partitions are added. */
    private volatile List<Map<TopicPartition, Long>> startsOfTasks;

    private volatile boolean stopping;
    private final Set<Consumer<byte[], byte[]>> consumers = ConcurrentHashMap.newKeySet();
    private final List<Scan> scans = new ArrayList<>();

    /**
     * @param starts where the query begins
     * @param tasks the number of tasks of each scan
     * @param transactions the output of the query; null if it is delivered at least once
     * @param marked the records that are read with marks; null if there are none
     */
    ContinuousTopic(
            TopicPartitions partitions,
            Map<TopicPartition, Long> starts,
            int tasks,
            boolean failOnDataLoss,
            TransactionalOutput transactions,
            Supplier<Consumer<byte[], byte[]>> newConsumer,
            MarkedStart marked) {
        this.partitions = partitions;
        this.tasks = tasks;
        this.failOnDataLoss = failOnDataLoss;
        this.transactional = transactions != null;
        this.interval = transactional ? transactions.commitInterval() : INTERVAL;
        this.newConsumer = newConsumer;
        this.marked = marked;
        this.startsOfTasks = divided(starts);
    }

    private List<Map<TopicPartition, Long>> divided(Map<TopicPartition, Long> starts) {
        List<Map<TopicPartition, Long>> ofTasks = new ArrayList<>();
        for (int task = 0; task < tasks; task++) {
            ofTasks.add(new HashMap<>());
        }
        starts.forEach(
                (partition, start) -> ofTasks.get(partition.partition() % tasks).put(partition, start));
        return List.copyOf(ofTasks);
    }

    int tasks() {
        return tasks;
    }

    boolean failsOnDataLoss() {
        return failOnDataLoss;
    }

    /** The time between two positions of a task at which it may be saved. */
    Duration interval() {
        return interval;
    }

    /** Whether records are sent in transactions. */
    boolean isTransactional() {
        return transactional;
    }

    /** The positions that no scan has read beyond. */
    synchronized Map<TopicPartition, Long> polled() {
        Map<TopicPartition, Long> all = new HashMap<>();
        for (Scan scan : scans) {
            for (ContinuousTask task : scan.tasks.values()) {
                task.polled().forEach((partition, position) -> all.merge(partition, position, Math::max));
            }
        }
        return all;
    }

    boolean isStopping() {
        return stopping;
    }

    /** The partitions of a task with their first offsets. The same object until partitions are added. */
    Map<TopicPartition, Long> partitionsOf(int task) {
        return startsOfTasks.get(task);
    }

    /** Adds a scan; its number. */
    synchronized int addScan() {
        scans.add(new Scan());
        return scans.size() - 1;
    }

    /** A reader for a task of a scan. */
    ContinuousReader reader(int scan, int number, ContinuousTask task) {
        Consumer<byte[], byte[]> consumer = newConsumer.get();
        consumers.add(consumer);
        synchronized (this) {
            scans.get(scan).tasks.put(number, task);
        }
        MarkedReader first = marked == null ? null : marked.reader(partitionsOf(number), failOnDataLoss, interval);
        return new ContinuousReader(this, number, task, consumer, first);
    }

    /** Removes a consumer that is being closed. */
    void left(Consumer<byte[], byte[]> consumer) {
        consumers.remove(consumer);
    }

    /** Lets all readers end. */
    void stop() {
        stopping = true;
        wake();
    }

    private void wake() {
        consumers.forEach(Consumer::wakeup);
    }

    private Map<TopicPartition, Long> starts() {
        Map<TopicPartition, Long> all = new HashMap<>();
        startsOfTasks.forEach(all::putAll);
        return all;
    }

    /**
     * Gives added partitions to the tasks, from their first record.
     *
     * @throws RuntimeException if the topic, or one of its partitions, no longer exists
     */
    void findPartitions() {
        Map<TopicPartition, Long> known = starts();
        Set<TopicPartition> added = new HashSet<>(partitions.ends(known).keySet());
        added.removeAll(known.keySet());
        if (!added.isEmpty()) {
            known.putAll(partitions.begins(added));
            startsOfTasks = divided(known);
            wake();
        }
    }

    /** Closes the connections. */
    void close() {
        partitions.close();
    }

    /** Adds the progress of the scans since the last call, and the positions that all scans have reached. */
    synchronized void takeWritten(ContinuousTask.Written written) {
        Map<TopicPartition, Long> starts = starts();
        for (Scan scan : scans) {
            ContinuousTask.Written added = new ContinuousTask.Written();
            scan.tasks.values().forEach(task -> task.takeWritten(added));
            scan.positions.putAll(added.positions);
            // Every scan reads all records: they count once.
            written.add(Map.of(), scan == scans.get(0) ? added.recordsIn : 0, added.recordsOut, added.failed);
        }
        starts.forEach((partition, start) -> written.positions.put(
                partition,
                scans.stream()
                        .mapToLong(scan -> scan.positions.getOrDefault(partition, start))
                        .min()
                        .orElse(start)));
    }

    /** The tasks of a scan by their number, and the positions after the records that they have written. */
    private static final class Scan {
        private final Map<Integer, ContinuousTask> tasks = new HashMap<>();
        private final Map<TopicPartition, Long> positions = new HashMap<>();
    }
}
