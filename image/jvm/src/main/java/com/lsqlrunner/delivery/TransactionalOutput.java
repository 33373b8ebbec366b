package com.lsqlrunner.delivery;

import com.lsqlrunner.fs.AtomicFile;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * The exactly-once output of a query. Each record has an identity, and is written in a transaction that is never
 * aborted. When the query starts, it commits the transactions of an earlier process, fences its producers, and searches
 * the targets for records of the repeated batch that are already written, to leave them out.
 */
public final class TransactionalOutput implements AutoCloseable {
    /** Offsets of the targets are saved again after this time, or after this number of records. */
    private static final Duration SAVE_OFFSETS = Duration.ofSeconds(5);

    private static final long SAVE_OFFSETS_RECORDS = 200_000;

    /** The longest wait for a record of the targets. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** The default of Kafka's clients. */
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    /**
     * The timeout of requests whose failure is harmless: while the query runs, older offsets of the targets are correct
     * as well; at its end, the next start commits open transactions.
     */
    private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(5);

    private final Settings settings;
    private final Admin admin;
    private final Targets targets;
    private final ProducerSlots slots;
    private final TargetOffsets offsets;
    private final InsertHistory history;
    private final Openings openings;

    /** Whether an earlier process was killed while it had the batch open. Spark has not planned it. */
    private boolean wasOpen;

    /** Set if the tasks run in other JVMs; then the slots have no producers. */
    private WorkerTransactions workers;

    /** The running batch, or the next one. */
    private long batch;

    private boolean isBatchRunning;
    private volatile WrittenRecords written;

    /** Results that an earlier process has written while it had the running batch open; null if there are none. */
    private volatile WrittenRecords opened;

    /** Whether the running batch does not read to the ends of the topics. */
    private volatile boolean isPartial;

    private long savedNanos = System.nanoTime();
    private long unsavedRecords;

    /**
     * @param writer {@code <app id>/<run>/<query>/}: the prefix of the batch header and of the transactional ids
     * @param targets the topics
     * @param offsets the file with the offsets of the targets
     * @param inserts the file of {@link InsertHistory}
     * @param opening the file of {@link Openings}
     * @param connection settings of all clients
     * @param producer settings of producers
     * @param commitInterval the longest time for which consumers of committed records wait for a record
     * @param tasks the number of tasks that write at the same time
     * @param onWorkers whether the tasks run in other JVMs
     * @param deletesRows whether a batch may have no result where an open batch had one, which is then deleted
     */
    public record Settings(
            String writer,
            List<String> targets,
            AtomicFile offsets,
            AtomicFile inserts,
            AtomicFile opening,
            Map<String, Object> connection,
            Map<String, Object> producer,
            Duration commitInterval,
            int tasks,
            boolean onWorkers,
            boolean deletesRows) {}

    private TransactionalOutput(Settings settings) {
        this.settings = settings;
        this.admin = Admin.create(settings.connection);
        this.targets = new Targets(admin, settings.targets, settings.connection);
        this.slots = ProducerSlots.ofBrokers(settings.writer, settings.producer);
        this.offsets = TargetOffsets.in(settings.offsets);
        this.history = InsertHistory.in(settings.inserts);
        this.openings = new Openings(settings.opening);
    }

    /**
     * Opens the output.
     *
     * @param replay the batch that may have been written in part
     */
    public static TransactionalOutput open(Settings settings, Replay replay) {
        TransactionalOutput output = new TransactionalOutput(settings);
        try {
            output.start(replay);
            return output;
        } catch (RuntimeException failed) {
            output.close();
            throw failed;
        }
    }

    private void start(Replay planned) {
        batch = planned.batch();
        Replay replay = planned.opened(openings.of(batch));
        wasOpen = !replay.hasBegun() && replay.isRepeated();
        TransactionRecovery.Known known = recovery(TIMEOUT).commitOpen();
        if (known.ids() > 0 && replay.isRepeated() && offsets.of(batch) == null) {
            // The checkpoint was restored from a copy that was made before the first offsets were saved.
            offsets.save(batch, targets.ends(TIMEOUT).atBeginning());
        }
        if (known.hasAborted()) {
            // The brokers forget that they aborted a transaction when a producer is opened with the same id.
            offsets.saveAborted(batch);
        }
        // All producers are opened now. If a suspended process, which another process has replaced, opened one later,
        // it would fence the producer of the other process.
        int producers = Math.max(known.ids(), settings.tasks);
        if (settings.onWorkers) {
            workers = new WorkerTransactions(settings, recovery(TIMEOUT), known.timeoutsMs());
            workers.take(producers);
        } else {
            slots.fence(producers);
        }
        List<InsertPositions> inserts = replay.inserts();
        TargetEnds all = targets.ends(inserts == null ? Set.of() : history.targetsOfRemoved(inserts), TIMEOUT);
        TargetEnds from = offsets.continueAt(batch, all.ids());
        if (from != null && replay.isRepeated()) {
            from = withNewTargets(from, all);
        }
        if (inserts != null) {
            history.begin(inserts, from == null ? all.offsets() : from.offsets(), all);
        }
        TargetEnds ends = all.of(settings.targets);
        // With state, the identity of a record is unique within its batch only. If the checkpoint was restored from an
        // older copy, the targets have records of later batches with the same numbers and other content. No search may
        // find these records.
        if (from == null || !replay.isRepeated()) {
            offsets.save(batch, ends);
        } else {
            findWritten(from.offsets(), ends.offsets(), replay, offsets.isAborted(batch));
            if (inserts == null) {
                // Of a batch that was only open, a restored checkpoint has no records before the ends of now.
                offsets.save(replay.hasBegun() || hasWritten() ? batch + 1 : batch, ends);
            }
        }
    }

    /**
     * The offsets, with the ends of topics that were not targets when the offsets were saved: these topics have no
     * records of the query.
     */
    private TargetEnds withNewTargets(TargetEnds from, TargetEnds ends) {
        Set<String> added = new HashSet<>(settings.targets);
        from.offsets().keySet().forEach(partition -> added.remove(partition.topic()));
        if (added.isEmpty()) {
            return from;
        }
        TargetEnds all = ends.of(added);
        all.offsets().putAll(from.offsets());
        all.ids().putAll(from.ids());
        offsets.extend(batch, all);
        return all;
    }

    private void findWritten(
            Map<TopicPartition, Long> from, Map<TopicPartition, Long> ends, Replay replay, boolean hasAborted) {
        Map<TopicPartition, TargetRange> returned =
                replay.inserts() == null ? Map.of() : history.returned(replay.inserts(), ends);
        EarlierRecords earlier = new EarlierRecords(replay, Map.copyOf(ends), hasAborted, returned);
        boolean deletes = settings.deletesRows && !openings.areKept();
        WrittenRecords records =
                targets.search(new TargetScan(settings.writer, replay, PATIENCE, deletes), earlier, from, TIMEOUT);
        opened = records.hasOpened() ? records : null;
        isPartial = opened != null && openings.isPartial();
        if (records.remaining() > 0 && workers != null) {
            workers.leaveOut(earlier, records.remaining(), records.ends());
        } else if (records.remaining() > 0) {
            written = records;
        }
    }

    /**
     * Commits the open transactions of a processor's queries that do not run any more.
     *
     * @param app the prefix of the processor's transactional ids
     * @param running the prefixes of the transactional ids of its queries
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

    /** The longest time for which consumers of committed records wait for a record. */
    public Duration commitInterval() {
        return settings.commitInterval;
    }

    /** Opens a batch before its first record; the name of the opening, which is in the headers of its records. */
    public String open(long opened) {
        return openings.open(opened);
    }

    /**
     * Whether an earlier process has written results of the next batch while it was open. So the batch has to read all
     * records that this process may have read: with fewer, a result would be older than the one that is there.
     */
    public boolean wasOpen() {
        return wasOpen && hasWritten();
    }

    /**
     * Whether the running batch, or the next one, has results that an earlier process has written while it was open.
     */
    public boolean repeatsOpening() {
        return opened != null;
    }

    /** The next batch does not read to the ends of the topics: the batches after it may have more of its results. */
    public void planPartial() {
        if (opened != null) {
            openings.markPartial();
            isPartial = true;
        }
    }

    /** A sender for a task. */
    public RecordSender sender() {
        return TransactionalSender.of(slots, settings.commitInterval.toNanos());
    }

    /**
     * Begins a batch whose tasks run in other JVMs.
     *
     * @param tasks their number
     * @return the data that tasks need; null if they run in this JVM
     */
    public TaskTransactions begin(int tasks) {
        if (workers == null) {
            return null;
        }
        workers.take(tasks);
        isBatchRunning = true;
        return workers.tasks(offsets.of(batch));
    }

    /** The records that are written already; null if there are none. */
    public WrittenRecords written() {
        return written;
    }

    /**
     * Saves the present ends of the targets from time to time.
     *
     * @param ended the batch; later ones have not begun to write
     * @param records the number of records that it has written
     * @param results of its tasks in other JVMs
     * @param positions the next offsets to read after it
     */
    public void batchEnded(
            long ended, long records, Collection<TaskResult> results, Map<TopicPartition, Long> positions) {
        batch = ended + 1;
        isBatchRunning = false;
        if (workers != null) {
            workers.ended(results);
        }
        if (opened != null) {
            results.forEach(result -> opened.takeAll(result.opened()));
        }
        boolean moreFollow = isPartial && workers == null; // workers would compare with the same values again
        if (!moreFollow) {
            wasOpen = false;
            deleteStale(ended);
            forgetWritten(positions);
        }
        isPartial = false;
        unsavedRecords += records;
        boolean isDue =
                unsavedRecords >= SAVE_OFFSETS_RECORDS || System.nanoTime() - savedNanos >= SAVE_OFFSETS.toNanos();
        // Records that the targets contain and that are not written again yet are before the present ends.
        if (unsavedRecords > 0 && isDue && !hasWritten()) {
            try {
                saveOffsets(batch, ends());
            } catch (KafkaException unreachable) {
                // The older offsets are correct as well.
            }
        }
    }

    /**
     * Deletes the results of an open batch that do not exist in the batch that has read the same records, for example
     * the bounds of a session before it was extended.
     */
    private void deleteStale(long ended) {
        Map<RecordIdentity, WrittenRecord> stale = opened == null || isPartial ? Map.of() : opened.stale();
        opened = null;
        if (stale.isEmpty()) {
            return;
        }
        try (RecordSender sender = workers == null ? sender() : workers.sender()) {
            stale.forEach((identity, record) ->
                    sender.send(record.tombstone(settings.writer + ended, identity), (sent, failure) -> {}));
            sender.commit(); // fails if a record was not sent
        }
    }

    private boolean hasWritten() {
        return written != null || (workers != null && workers.hasEarlier());
    }

    /**
     * Releases the records that are written already when no batch can write them again. Without state, an earlier
     * process may have written records of several batches, because it ran without batches. Some are never written
     * again, for example records of an INSERT that has another filter now.
     */
    private void forgetWritten(Map<TopicPartition, Long> positions) {
        if (workers != null) {
            workers.forget(positions);
        }
        WrittenRecords records = written;
        if (records != null && (records.remaining() == 0 || areReached(records.ends(), positions))) {
            forgetWrittenBefore();
        }
    }

    /** Whether positions are at or after all goals. */
    public static boolean areReached(Map<TopicPartition, Long> goals, Map<TopicPartition, Long> positions) {
        return goals.entrySet().stream().allMatch(goal -> positions.getOrDefault(goal.getKey(), 0L) >= goal.getValue());
    }

    /** Releases the records that were written before this start: their source records have been processed again. */
    public void forgetWrittenBefore() {
        WrittenRecords records = written;
        if (records != null) {
            records.clear();
            written = null;
        }
    }

    /** Saves offsets that are before all records of a batch and of later batches. */
    public void saveOffsets(long of, TargetEnds before) {
        history.settle();
        offsets.save(of, before);
        savedNanos = System.nanoTime();
        unsavedRecords = 0;
    }

    /**
     * The present ends of all partitions of the targets.
     *
     * @throws KafkaException the brokers have not answered within seconds
     */
    public TargetEnds ends() {
        return targets.ends(SHORT_TIMEOUT);
    }

    /** As {@link TransactionalProducers#limitMs}. */
    public int limitMs() {
        return workers == null ? slots.limitMs() : workers.limitMs();
    }

    /** After a producer was fenced: whether another process has replaced this one. */
    public boolean isReplaced() {
        return workers == null ? recovery(TIMEOUT).isReplaced() : workers.isReplaced();
    }

    /** Closes the clients, after all tasks have ended. An open transaction is committed, if the brokers answer. */
    @Override
    public void close() {
        try {
            if (slots.close() || isBatchRunning) {
                recovery(SHORT_TIMEOUT).commitOpen();
            }
        } catch (KafkaException unreachable) {
            // The next start commits it.
        } finally {
            admin.close(Duration.ZERO);
        }
    }
}
