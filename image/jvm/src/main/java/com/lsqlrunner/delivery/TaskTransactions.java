package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;

/**
 * Everything that a task on a worker needs to know about the output of its query. Spark sends it with the tasks of a
 * batch.
 *
 * @param writer the beginning of the batch header and of the transactional ids
 * @param connection settings of all clients
 * @param producer settings of producers, with the timeout of transactions that only this process uses
 * @param from offsets of the targets before which no record of the batch is
 * @param earlier the records that an earlier process has written; null if the batch cannot contain any of them
 * @param owners the producers that have the transactional ids when the batch begins, by the number of the task
 */
public record TaskTransactions(
        String writer,
        List<String> targets,
        Map<String, Object> connection,
        Map<String, Object> producer,
        long commitIntervalNanos,
        TargetEnds from,
        EarlierRecords earlier,
        Map<Integer, ProducerOwner> owners)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /**
     * A sender of a task.
     *
     * @param number of the task: the number of its part of the batch, which each attempt writes
     * @param isRetry whether another attempt may have written records, or may still be running
     */
    public RecordSender sender(long batch, int number, boolean isRetry) {
        Admin admin = WorkerProducers.admin(connection);
        return new WorkerSender(this, new Brokers(this, admin), batch, number, isRetry);
    }

    /** Without the settings, which have credentials. */
    @Override
    public String toString() {
        return "TaskTransactions[writer=" + writer + "]";
    }

    private record Brokers(TaskTransactions tasks, Admin admin) implements TaskBrokers {
        private TransactionRecovery recovery() {
            return new TransactionRecovery(admin, tasks.writer, tasks.producer, TIMEOUT);
        }

        private Targets targets() {
            return new Targets(admin, tasks.targets, tasks.connection);
        }

        private Id id(TransactionDescription transaction) {
            long timeoutMs = Long.parseLong(tasks.producer
                    .get(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG)
                    .toString());
            return transaction == null
                    ? null
                    : new Id(
                            ProducerOwner.of(transaction),
                            TransactionRecovery.isAborted(transaction),
                            transaction.transactionTimeoutMs() == timeoutMs);
        }

        @Override
        public Id commitOpen(int number) {
            return id(recovery().commitOpen(number));
        }

        @Override
        public Id describe(int number) {
            return id(recovery().describe(number));
        }

        @Override
        public Producer<byte[], byte[]> open(int number) {
            return new TransactionalProducers(tasks.writer, tasks.producer, TransactionalProducers::ofBrokers, 0)
                    .open(number);
        }

        @Override
        public TargetEnds ends() {
            return targets().ends(TIMEOUT);
        }

        @Override
        public WrittenRecords search(EarlierRecords records, Map<TopicPartition, Long> from) {
            return targets()
                    .search(new TargetScan(tasks.writer, records.replay(), PATIENCE, false), records, from, TIMEOUT);
        }
    }
}
