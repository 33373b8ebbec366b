package com.lsqlrunner.delivery;

import com.lsqlrunner.fs.Owner;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;

/**
 * The transactional ids of a query whose tasks run on workers, in the driver. Each task number has one.
 *
 * <p>The driver opens a producer for each id before a task does. Producers of an earlier process cannot write any more.
 * The brokers know the id with a timeout that only this process uses: a worker of a suspended earlier process reads
 * this timeout and does not take the id back.
 */
final class WorkerTransactions {
    private static final int SECOND_MS = 1_000;

    private final TransactionalOutput.Settings settings;
    private final TransactionRecovery recovery;
    private final TransactionalProducers producers;
    private final Map<Integer, ProducerOwner> owners = new HashMap<>();
    private long timeoutMs;
    private EarlierRecords earlier;

    /** The number of earlier records that were not left out yet. */
    private long earlierRemaining;

    /** By source partition: the offset after the last record whose result is an earlier record; empty with state. */
    private Map<TopicPartition, Long> earlierEnds = Map.of();

    /** @param timeoutsMs the transaction timeouts of earlier processes */
    WorkerTransactions(TransactionalOutput.Settings settings, TransactionRecovery recovery, Set<Long> timeoutsMs) {
        this.settings = settings;
        this.recovery = recovery;
        this.producers = new TransactionalProducers(
                settings.writer(),
                settings.producer(),
                TransactionalProducers::ofBrokers,
                unusedReductionMs(timeoutsMs));
    }

    /** The milliseconds by which the timeout is shorter than a whole number of seconds. */
    static int unusedReductionMs(Set<Long> timeoutsMs) {
        int reductionMs = 0;
        while (reductionMs == 0 || isUsed(reductionMs, timeoutsMs)) {
            reductionMs = ThreadLocalRandom.current().nextInt(1, SECOND_MS);
        }
        return reductionMs;
    }

    private static boolean isUsed(int reductionMs, Set<Long> timeoutsMs) {
        return timeoutsMs.stream().anyMatch(timeoutMs -> (timeoutMs + reductionMs) % SECOND_MS == 0);
    }

    /**
     * Takes the ids of a number of tasks, unless this process has them.
     *
     * @throws ProducerFencedException another process has replaced this one
     */
    void take(int tasks) {
        int first = owners.size();
        if (tasks <= first) {
            return;
        }
        for (int number = first; number < tasks; number++) {
            producers.open(number).close(Duration.ZERO);
        }
        Map<Integer, TransactionDescription> taken = recovery.describe(first, tasks);
        if (first == 0) {
            timeoutMs = taken.get(0).transactionTimeoutMs();
        } else {
            requireNotReplaced(); // a successor does not know the new ids, but it has all older ones
        }
        taken.forEach((number, transaction) -> owners.put(number, ProducerOwner.of(transaction)));
    }

    /**
     * Lets tasks search the records of an earlier process, until they have found all of them or have read their source
     * records.
     */
    void leaveOut(EarlierRecords records, long count, Map<TopicPartition, Long> ends) {
        earlier = records;
        earlierRemaining = count;
        earlierEnds = ends;
    }

    /** Whether records of an earlier process may not have been written again yet. */
    boolean hasEarlier() {
        return earlier != null;
    }

    /** The data that the tasks of the next batch need. */
    TaskTransactions tasks(TargetEnds from) {
        Map<String, Object> producer = new HashMap<>(settings.producer());
        producer.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, (int) timeoutMs);
        return new TaskTransactions(
                settings.writer(),
                List.copyOf(settings.targets()),
                settings.connection(),
                Map.copyOf(producer),
                settings.commitInterval().toNanos(),
                from,
                earlier,
                Map.copyOf(owners));
    }

    /** The tasks of a batch have ended. */
    void ended(Collection<TaskResult> results) {
        for (TaskResult result : results) {
            owners.put(result.number(), result.owner());
            earlierRemaining -= result.left();
        }
    }

    /** Releases the earlier records if no batch can write them again, with the next offsets to read. */
    void forget(Map<TopicPartition, Long> positions) {
        // With state, only the batch that ran again can have written them: there are no ends to reach.
        if (earlierRemaining <= 0 || TransactionalOutput.areReached(earlierEnds, positions)) {
            earlier = null;
        }
    }

    /**
     * A sender for the driver. No task may be running.
     *
     * @throws ProducerFencedException another process has replaced this one
     */
    RecordSender sender() {
        Owner.check();
        requireNotReplaced();
        Producer<byte[], byte[]> producer = producers.open(0);
        owners.put(0, ProducerOwner.of(recovery.describe(0)));
        Runnable close = () -> producer.close(Duration.ZERO);
        return new TransactionalSender(producer, settings.commitInterval().toNanos(), close, close);
    }

    /** As {@link TransactionalProducers#limitMs}. */
    int limitMs() {
        return producers.limitMs();
    }

    private void requireNotReplaced() {
        if (isReplaced()) {
            throw new ProducerFencedException("another process has the transactional ids " + settings.writer());
        }
    }

    /** Whether another process has the ids now. */
    boolean isReplaced() {
        TransactionDescription first = recovery.describe(0);
        return first != null && first.transactionTimeoutMs() != timeoutMs;
    }
}
