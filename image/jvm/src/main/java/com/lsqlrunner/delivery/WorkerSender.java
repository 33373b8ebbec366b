package com.lsqlrunner.delivery;

import com.lsqlrunner.delivery.WorkerProducers.Owned;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;

/**
 * Sends the records of a task on a worker in transactions. Each number of a task has a transactional id. With its first
 * record, a task takes the id from the attempt or worker that had it. From then on the brokers refuse that attempt,
 * also if it was only suspended. If another attempt may have written records of the batch, the task commits its open
 * transaction and searches the targets for its records, to leave them out.
 */
final class WorkerSender implements RecordSender {
    private final TaskTransactions tasks;
    private final TaskBrokers brokers;
    private final WorkerProducers idle;
    private final long batch;
    private final int number;
    private final boolean isRetry;

    /** Null before the first record. */
    private TransactionalSender sender;

    private ProducerOwner owner;
    private boolean mustSearch;
    private boolean hasAborted;

    /** The records that an earlier process and other attempts have written. */
    private WrittenRecords earlier;

    private WrittenRecords ofAttempts = new WrittenRecords();
    private long earlierCount;

    WorkerSender(TaskTransactions tasks, TaskBrokers brokers, long batch, int number, boolean isRetry) {
        this(tasks, brokers, WorkerProducers.ofWorker(), batch, number, isRetry);
    }

    WorkerSender(
            TaskTransactions tasks,
            TaskBrokers brokers,
            WorkerProducers idle,
            long batch,
            int number,
            boolean isRetry) {
        this.tasks = tasks;
        this.brokers = brokers;
        this.idle = idle;
        this.batch = batch;
        this.number = number;
        this.isRetry = isRetry;
    }

    @Override
    public WrittenRecords begin() {
        Owned owned = takeId();
        try {
            WrittenRecords written = findWritten();
            owner = owned.owner();
            sender = new TransactionalSender(
                    owned.producer(),
                    tasks.commitIntervalNanos(),
                    () -> idle.release(key(), owned),
                    () -> owned.producer().close(Duration.ZERO)); // another attempt commits the open transaction
            return written;
        } finally {
            if (sender == null) {
                owned.producer().close(Duration.ZERO);
            }
        }
    }

    /** A producer with the task's id. */
    private Owned takeId() {
        ProducerOwner known = tasks.owners().get(number);
        Owned kept = idle.take(key());
        if (kept != null) {
            if (!isRetry && kept.owner().equals(known)) {
                return kept; // no other worker has had the id since this worker wrote the previous batch
            }
            kept.producer().close(Duration.ZERO);
        }
        TaskBrokers.Id before = brokers.commitOpen(number);
        requireOfProcess(before);
        Owned taken = new Owned(brokers.open(number), null);
        try {
            TaskBrokers.Id after = brokers.describe(number);
            requireOfProcess(after);
            taken = new Owned(taken.producer(), after.owner());
        } catch (KafkaException failed) {
            taken.producer().close(Duration.ZERO);
            throw failed;
        }
        mustSearch = isRetry || !taken.owner().follows(known);
        boolean isOneAttempt = before != null
                && (before.owner().equals(known) || before.owner().follows(known));
        hasAborted = before == null
                || before.isAborted()
                || !isOneAttempt
                || !taken.owner().follows(before.owner());
        return taken;
    }

    private void requireOfProcess(TaskBrokers.Id id) {
        if (id != null && !id.isOfProcess()) {
            throw new ProducerFencedException("another process has the transactional id " + key());
        }
    }

    private WrittenRecords findWritten() {
        earlier = new WrittenRecords();
        EarlierRecords ofProcess = tasks.earlier();
        if (ofProcess != null) {
            earlier = brokers.search(ofProcess, tasks.from().offsets());
            earlierCount = earlier.remaining();
        }
        if (mustSearch) {
            TargetEnds ends = brokers.ends();
            EarlierRecords records =
                    new EarlierRecords(new Replay(batch, true, null, null), ends.offsets(), hasAborted, Map.of());
            Map<TopicPartition, Long> from =
                    ofProcess == null ? tasks.from().in(ends.ids()).offsets() : ofProcess.until();
            ofAttempts = brokers.search(records, from);
            earlier.join(ofAttempts);
        }
        return earlier.remaining() == 0 ? null : earlier;
    }

    private String key() {
        return tasks.writer() + number;
    }

    @Override
    public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
        sender.send(record, callback);
    }

    @Override
    public void commitTransaction() {
        if (sender != null) {
            sender.commitTransaction();
        }
    }

    @Override
    public void commit() {
        if (sender != null) {
            sender.commit();
        }
    }

    @Override
    public TaskResult result() {
        if (sender == null) {
            return null;
        }
        long left = earlierCount - (earlier.remaining() - ofAttempts.remaining());
        return new TaskResult(number, owner, left, earlier.taken());
    }

    @Override
    public void close() {
        if (sender != null) {
            sender.close();
        }
    }
}
