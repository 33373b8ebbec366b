package com.lsqlrunner.delivery;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The exactly-once output of a query. Each record has an identity, and is written in a transaction that is never
 * aborted. When the query starts, the transactions of an earlier process are committed, its producers are fenced, and
 * the records that it has written of the batch that runs again are searched in the targets: they are left out.
 */
public final class TransactionalOutput implements AutoCloseable {
    /** Offsets of the targets are saved again after this time, or after so many records. */
    private static final Duration SAVE_OFFSETS = Duration.ofSeconds(5);

    private static final long SAVE_OFFSETS_RECORDS = 200_000;

    /** The longest wait for a record of the targets. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** The default of Kafka's clients. */
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    /**
     * Of requests whose failure costs little: while the query runs, older offsets of the targets are correct as well;
     * at its end, the next start commits what is open.
     */
    private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(5);

    private final Settings settings;
    private final Admin admin;
    private final ProducerSlots slots;
    private final TargetOffsets offsets;
    private volatile WrittenRecords written;
    private long savedNanos = System.nanoTime();
    private long unsavedRecords;

    /**
     * @param writer {@code <app id>/<run>/<query>/}: the beginning of the batch header and of the transactional ids
     * @param targets the topics
     * @param offsets the file with the offsets of the targets
     * @param connection settings of all clients
     * @param producer settings of producers
     * @param commitInterval the longest time for which consumers of committed records wait for a record
     * @param tasks the number of tasks that write at the same time
     */
    public record Settings(
            String writer,
            List<String> targets,
            Path offsets,
            Map<String, Object> connection,
            Map<String, Object> producer,
            Duration commitInterval,
            int tasks) {}

    private TransactionalOutput(Settings settings) {
        this.settings = settings;
        this.admin = Admin.create(settings.connection);
        this.slots = ProducerSlots.ofBrokers(settings.writer, settings.producer);
        this.offsets = TargetOffsets.in(settings.offsets);
    }

    /**
     * Opens the output.
     *
     * @param replay the batch that may have been written in part
     */
    public static TransactionalOutput open(Settings settings, Replay replay) {
        TransactionalOutput output = new TransactionalOutput(settings);
        try {
            TransactionRecovery.Known known = output.recovery(TIMEOUT).commitOpen();
            // All producers are opened now. If one were opened later, by a process that was suspended until another one
            // took its place, its transactional id would fence the producer of the other process.
            output.slots.fence(Math.max(known.ids(), settings.tasks));
            Map<TopicPartition, Long> from = output.offsets.of(replay.batch());
            if (from == null) {
                output.offsets.save(replay.batch(), output.ends(TIMEOUT));
            } else if (replay.hasBegun()) {
                output.written = output.scan(from, replay, known.hasAborted());
            }
            return output;
        } catch (RuntimeException failed) {
            output.close();
            throw failed;
        }
    }

    /**
     * Commits the open transactions of a processor's queries that do not run any more.
     *
     * @param app the beginning of the processor's transactional ids
     * @param running the beginnings of those of its queries
     */
    public static void commitAbandoned(
            String app, Collection<String> running, Map<String, Object> connection, Map<String, Object> producer) {
        try (Admin admin = Admin.create(connection)) {
            TransactionRecovery.commitAbandoned(admin, app, running, producer, TIMEOUT);
        }
    }

    private TransactionRecovery recovery(Duration timeout) {
        return new TransactionRecovery(admin, settings.writer, settings.producer, timeout);
    }

    /**
     * Searches the targets. Consumers of committed records cannot pass the open transaction of another producer. What
     * the query has written is committed, so the records after it are read whether they are committed or not; only if
     * the brokers have aborted a transaction of the query, the search waits for the other producer.
     */
    private WrittenRecords scan(Map<TopicPartition, Long> from, Replay replay, boolean hasAborted) {
        TargetScan scan = new TargetScan(settings.writer, replay, PATIENCE);
        Map<TopicPartition, Long> ends = ends(TIMEOUT);
        Map<TopicPartition, Long> stable =
                hasAborted ? ends : ends(ends.keySet(), IsolationLevel.READ_COMMITTED, TIMEOUT);
        try (var committed = consumer(IsolationLevel.READ_COMMITTED)) {
            scan.read(committed, from, stable);
        }
        if (!stable.equals(ends)) {
            Map<TopicPartition, Long> rest = new HashMap<>(from);
            stable.forEach((partition, offset) -> rest.merge(partition, offset, Math::max));
            try (var uncommitted = consumer(IsolationLevel.READ_UNCOMMITTED)) {
                scan.read(uncommitted, rest, ends);
            }
        }
        return scan.found().remaining() == 0 ? null : scan.found();
    }

    private KafkaConsumer<byte[], byte[]> consumer(IsolationLevel isolation) {
        Map<String, Object> consumer = new HashMap<>(settings.connection);
        consumer.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
        consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        consumer.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        return new KafkaConsumer<>(consumer, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** The longest time for which consumers of committed records wait for a record. */
    public Duration commitInterval() {
        return settings.commitInterval;
    }

    /** A sender for a task. */
    public RecordSender sender() {
        return new TransactionalSender(slots, settings.commitInterval.toNanos());
    }

    /** The records that are written already; null if there are none. */
    public WrittenRecords written() {
        return written;
    }

    /**
     * Saves the present ends of the targets from time to time.
     *
     * @param batch has ended; those of later batches have not begun to write
     * @param records the number of records that it has written
     */
    public void batchEnded(long batch, long records) {
        forgetWritten();
        unsavedRecords += records;
        boolean isDue =
                unsavedRecords >= SAVE_OFFSETS_RECORDS || System.nanoTime() - savedNanos >= SAVE_OFFSETS.toNanos();
        // What is found in the targets and not written again yet is before their present ends.
        if (unsavedRecords > 0 && isDue && written == null) {
            try {
                saveOffsets(batch + 1, ends());
            } catch (KafkaException unreachable) {
                // The older offsets are correct as well.
            }
        }
    }

    /**
     * Releases the records that are written already when no batch can write them again. Without state, an earlier
     * process may have written records of several batches, because it ran without batches.
     */
    private void forgetWritten() {
        WrittenRecords found = written;
        if (found != null && (found.ends().isEmpty() || found.remaining() == 0)) {
            written = null;
        }
    }

    /** Releases the records that were written before this start: their source records have been processed again. */
    public void forgetWrittenBefore() {
        WrittenRecords found = written;
        if (found != null) {
            found.clear();
            written = null;
        }
    }

    /** Saves offsets before which no record of a batch, or of a later one, is. */
    public void saveOffsets(long batch, Map<TopicPartition, Long> before) {
        offsets.save(batch, before);
        savedNanos = System.nanoTime();
        unsavedRecords = 0;
    }

    /**
     * The present ends of all partitions of the targets.
     *
     * @throws KafkaException the brokers have not answered within seconds
     */
    public Map<TopicPartition, Long> ends() {
        return ends(SHORT_TIMEOUT);
    }

    private Map<TopicPartition, Long> ends(Duration timeout) {
        List<TopicPartition> partitions = new ArrayList<>();
        List<KafkaFuture<TopicDescription>> described = new ArrayList<>(
                admin.describeTopics(settings.targets, new DescribeTopicsOptions().timeoutMs((int) timeout.toMillis()))
                        .topicNameValues()
                        .values());
        for (KafkaFuture<TopicDescription> topic : described) {
            TopicDescription found = KafkaFutures.result(topic);
            found.partitions()
                    .forEach(partition -> partitions.add(new TopicPartition(found.name(), partition.partition())));
        }
        return ends(partitions, IsolationLevel.READ_UNCOMMITTED, timeout);
    }

    private Map<TopicPartition, Long> ends(
            Collection<TopicPartition> partitions, IsolationLevel isolation, Duration timeout) {
        ListOffsetsOptions options = new ListOffsetsOptions(isolation).timeoutMs((int) timeout.toMillis());
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        partitions.forEach(partition -> latest.put(partition, OffsetSpec.latest()));
        Map<TopicPartition, Long> ends = new HashMap<>();
        for (Map.Entry<TopicPartition, ListOffsetsResultInfo> end :
                KafkaFutures.result(admin.listOffsets(latest, options).all()).entrySet()) {
            ends.put(end.getKey(), end.getValue().offset());
        }
        return ends;
    }

    /** After a producer was fenced: whether another process writes in place of this one. */
    public boolean isReplaced() {
        return recovery(TIMEOUT).isReplaced();
    }

    /** Closes the clients, after all tasks have ended. An open transaction is committed, if the brokers answer. */
    @Override
    public void close() {
        try {
            if (slots.close()) {
                recovery(SHORT_TIMEOUT).commitOpen();
            }
        } catch (KafkaException unreachable) {
            // The next start commits it.
        } finally {
            admin.close(Duration.ZERO);
        }
    }
}
