package com.lsqlrunner.realtime;

import static java.util.stream.Collectors.toMap;

import com.lsqlrunner.errors.Unchecked;
import com.lsqlrunner.topic.RecordRow;
import com.lsqlrunner.topic.ShorterTopic;
import com.lsqlrunner.topic.TopicConsumer;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/**
 * A topic of an open batch. Each place of the plan that reads the topic has a reader for all its partitions. At the
 * end, all readers stop at the same positions.
 */
public final class OpenTopic {
    private static final ConcurrentMap<String, OpenTopic> BY_NAME = new ConcurrentHashMap<>();
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final String name = UUID.randomUUID().toString();
    private final OpenStream stream;
    private final Set<Reader> readers = ConcurrentHashMap.newKeySet();
    private Map<TopicPartition, Long> starts = Map.of();

    /** The number of readers in the plan. */
    private int planned;

    private int stopped;
    private final Map<TopicPartition, Long> ends = new HashMap<>();
    private volatile boolean isEnding;
    private long records;

    OpenTopic(OpenStream stream) {
        this.stream = stream;
        BY_NAME.put(name, this);
    }

    /** The partition of the plan for a reader. */
    public InputPartition[] plan() {
        return new InputPartition[] {new Part(name)};
    }

    /** Counts a task that reads a partition of the plan. */
    static void addReader(InputPartition partition) {
        if (partition instanceof Part part) {
            BY_NAME.get(part.topic).planned++;
        }
    }

    /** Begins at positions. */
    synchronized void open(Map<TopicPartition, Long> positions) {
        starts = Map.copyOf(positions);
        stopped = 0;
        ends.clear();
        ends.putAll(starts);
        isEnding = false;
        records = 0;
    }

    private synchronized void ended(long read) {
        records = Math.max(records, read);
    }

    /** Whether it is a table, which is read before a stream. */
    boolean isFirst() {
        return stream.isFirst();
    }

    /** The number of readers in the plan. */
    synchronized int readers() {
        return planned;
    }

    /** Lets all readers end at the same positions, when they are woken. */
    void end() {
        isEnding = true;
    }

    void wake() {
        readers.forEach(reader -> reader.consumer.wakeup());
    }

    /** The positions at which all readers have ended. */
    synchronized Map<TopicPartition, Long> ends() {
        return Map.copyOf(ends);
    }

    /** The positions that all readers have reached, of records whose rows have passed their stage. */
    Map<TopicPartition, Long> reached() {
        Map<TopicPartition, Long> reached = new HashMap<>();
        for (TopicPartition partition : starts.keySet()) {
            long start = starts.get(partition);
            reached.put(
                    partition,
                    readers.stream()
                            .mapToLong(reader -> reader.reached.getOrDefault(partition, start))
                            .min()
                            .orElse(start));
        }
        return reached;
    }

    /** The number of records that a reader has not read. */
    long lag() {
        return readers.stream().mapToLong(reader -> reader.lag).max().orElse(0);
    }

    /** The number of records that each reader has read; the largest, while they read. */
    synchronized long records() {
        return readers.stream().mapToLong(reader -> reader.read).reduce(records, Math::max);
    }

    /** The plan is not opened any more. */
    void close() {
        BY_NAME.remove(name, this);
    }

    /** Waits until all readers have stopped; the positions at which they end. */
    private synchronized Map<TopicPartition, Long> stop(Map<TopicPartition, Long> reached) throws InterruptedException {
        reached.forEach((partition, position) -> ends.merge(partition, position, Math::max));
        stopped++;
        notifyAll();
        while (stopped < planned) {
            wait();
        }
        return Map.copyOf(ends);
    }

    /** @param topic the name of a topic in this JVM */
    private record Part(String topic) implements InputPartition {
        private static final long serialVersionUID = 1L;
    }

    /** Creates readers. */
    public static final class Readers implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            return BY_NAME.get(((Part) partition).topic)
            .new Reader(OpenTask.current().batch());
        }
    }

    private final class Reader implements PartitionReader<InternalRow> {
        private final OpenBatch batch;
        private final TopicConsumer consumer;
        private final RecordRow row = new RecordRow();
        private final Map<TopicPartition, Long> positions = new HashMap<>(starts);
        private Iterator<ConsumerRecord<byte[], byte[]>> records = Collections.emptyIterator();

        /** The number of records that it has not read; -1 if not known yet. */
        private volatile long lag = -1;

        /** The positions before its last poll. */
        private volatile Map<TopicPartition, Long> reached = Map.of();

        private volatile long read;
        private long measuredNanos = System.nanoTime();

        /** Set when all readers have stopped. */
        private Map<TopicPartition, Long> limits;

        Reader(OpenBatch batch) {
            this.batch = batch;
            this.consumer = stream.newConsumer();
            consumer.assign(starts.keySet());
            starts.forEach(consumer::seek);
            readers.add(this);
        }

        @Override
        public boolean next() {
            while (true) {
                while (records.hasNext() && (limits != null || !isEnding)) {
                    if (take(records.next())) {
                        return true;
                    }
                }
                if (isEnding && hasReachedLimits()) {
                    return false;
                }
                if (!records.hasNext()) {
                    poll();
                }
            }
        }

        private boolean take(ConsumerRecord<byte[], byte[]> record) {
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            if (limits != null && record.offset() >= limits.get(partition)) {
                return false;
            }
            positions.put(partition, record.offset() + 1);
            read++;
            row.set(record);
            batch.hasRead();
            return true;
        }

        private boolean hasReachedLimits() {
            if (!records.hasNext()) { // the consumer also passes offsets without a record
                positions.replaceAll((partition, position) -> position(partition));
            }
            if (limits == null) {
                try {
                    limits = stop(positions);
                } catch (InterruptedException interrupt) {
                    throw Unchecked.thrown(interrupt);
                }
            }
            return limits.entrySet().stream().allMatch(limit -> positions.get(limit.getKey()) >= limit.getValue());
        }

        private long position(TopicPartition partition) {
            while (true) {
                try {
                    return consumer.position(partition);
                } catch (WakeupException wake) {
                    // The batch ends, which is known here.
                }
            }
        }

        private void poll() {
            reached = Map.copyOf(positions);
            Duration idle = OpenTask.current().idle(); // a stage without an exchange writes, too
            try {
                if (isFirst()) {
                    batch.tables().passed(this, starts.keySet().stream().collect(toMap(each -> each, this::position)));
                }
                records = consumer.poll(idle.compareTo(MAX_WAIT) < 0 ? idle : MAX_WAIT)
                        .iterator();
                measureLag();
                awaitTables();
            } catch (WakeupException wake) {
                // The batch ends.
            } catch (OffsetOutOfRangeException missing) {
                if (stream.failsOnDataLoss()) {
                    throw missing;
                }
                Map<TopicPartition, Long> asked = missing.offsetOutOfRangePartitions();
                ShorterTopic.check(asked, consumer.endOffsets(asked.keySet()));
                consumer.beginningOffsets(asked.keySet()).forEach((partition, beginning) -> {
                    consumer.seek(partition, beginning);
                    positions.put(partition, beginning);
                });
            } catch (InterruptException interrupt) {
                throw Unchecked.thrown(new InterruptedException());
            } catch (InterruptedException interrupt) {
                throw Unchecked.thrown(interrupt);
            }
        }

        /** Lets the records of a stream wait for those of tables. */
        private void awaitTables() throws InterruptedException {
            TablePositions tables = batch.tables();
            if (records.hasNext() && !isFirst() && !tables.partitions().isEmpty()) {
                tables.await(consumer.endOffsets(tables.partitions()));
            }
        }

        private void measureLag() {
            long now = System.nanoTime();
            if (now - measuredNanos >= MAX_WAIT.toNanos()) {
                measuredNanos = now;
                long sum = 0;
                for (TopicPartition partition : starts.keySet()) {
                    OptionalLong known = consumer.currentLag(partition);
                    sum = known.isEmpty() || sum < 0 ? -1 : sum + known.getAsLong();
                }
                lag = sum;
            }
        }

        @Override
        public InternalRow get() {
            return row;
        }

        @Override
        public void close() {
            readers.remove(this);
            ended(read);
            consumer.close(Duration.ZERO);
        }
    }
}
