package com.lsqlrunner.delivery;

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
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The topics that a query writes to.
 *
 * @param topics their names
 * @param connection settings of consumers
 */
record Targets(Admin admin, Collection<String> topics, Map<String, Object> connection) {

    /** The present ends of all partitions. */
    Map<TopicPartition, Long> ends(Duration timeout) {
        List<TopicPartition> partitions = new ArrayList<>();
        List<KafkaFuture<TopicDescription>> described = new ArrayList<>(
                admin.describeTopics(topics, new DescribeTopicsOptions().timeoutMs((int) timeout.toMillis()))
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

    /**
     * Searches the records of a query, whose transactions are committed. Consumers of committed records cannot pass the
     * open transaction of another producer, so the records after it are read whether they are committed or not; only if
     * the brokers have aborted a transaction of the query, the search waits for the other producer.
     *
     * @param from where to begin, by partition; others begin at their first record
     * @param until where to end, by partition
     * @param hasAborted whether the brokers may have aborted a transaction of the query
     */
    void search(
            TargetScan scan,
            Map<TopicPartition, Long> from,
            Map<TopicPartition, Long> until,
            boolean hasAborted,
            Duration timeout) {
        Map<TopicPartition, Long> stable = new HashMap<>(until);
        if (!hasAborted) {
            ends(until.keySet(), IsolationLevel.READ_COMMITTED, timeout)
                    .forEach((partition, end) -> stable.merge(partition, end, Math::min));
        }
        try (var committed = consumer(IsolationLevel.READ_COMMITTED)) {
            scan.read(committed, from, stable);
        }
        if (!stable.equals(until)) {
            Map<TopicPartition, Long> rest = new HashMap<>(from);
            stable.forEach((partition, offset) -> rest.merge(partition, offset, Math::max));
            try (var uncommitted = consumer(IsolationLevel.READ_UNCOMMITTED)) {
                scan.read(uncommitted, rest, until);
            }
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer(IsolationLevel isolation) {
        Map<String, Object> consumer = new HashMap<>(connection);
        consumer.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
        consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        consumer.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        return new KafkaConsumer<>(consumer, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
