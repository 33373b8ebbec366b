package com.lsqlrunner.delivery;

import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/** The requests to brokers of a query's tasks on workers. A task has the same number as its transactional id. */
interface TaskBrokers {
    /**
     * A transactional id.
     *
     * @param isAborted whether its last transaction was aborted
     * @param isOfProcess whether the driver of the task, or one of its workers, has opened its producer
     */
    record Id(ProducerOwner owner, boolean isAborted, boolean isOfProcess) {}

    /**
     * Commits the open transaction of an id.
     *
     * @return the state of the id before; null if the brokers do not know it
     */
    Id commitOpen(int number);

    /** The present state of the id. */
    Id describe(int number);

    /** Opens a producer with the id. Its previous producer cannot write any more. */
    Producer<byte[], byte[]> open(int number);

    /** The present ends of the targets. */
    TargetEnds ends();

    /** Searches records of the query in the targets; see {@link Targets#search}. */
    WrittenRecords search(EarlierRecords records, Map<TopicPartition, Long> from);
}
