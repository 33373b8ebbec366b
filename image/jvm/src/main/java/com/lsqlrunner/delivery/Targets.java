package com.lsqlrunner.delivery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The topics that a query writes to.
 *
 * @param topics their names
 * @param connection settings of consumers
 */
record Targets(Admin admin, Collection<String> topics, Map<String, Object> connection) {

    /** The present ends of all partitions. */
    TargetEnds ends(Duration timeout) {
        return ends(Set.of(), timeout);
    }

    /**
     * The present ends of all partitions.
     *
     * @param more other topics, which may not exist
     */
    TargetEnds ends(Collection<String> more, Duration timeout) {
        Set<String> all = new LinkedHashSet<>(topics);
        all.addAll(more);
        List<TopicPartition> partitions = new ArrayList<>();
        Map<String, String> ids = new HashMap<>();
        admin.describeTopics(all, new DescribeTopicsOptions().timeoutMs((int) timeout.toMillis()))
                .topicNameValues()
                .forEach((topic, described) -> {
                    try {
                        TopicDescription description = KafkaFutures.result(described);
                        description
                                .partitions()
                                .forEach(each -> partitions.add(new TopicPartition(topic, each.partition())));
                        if (!description.topicId().equals(Uuid.ZERO_UUID)) {
                            ids.put(topic, description.topicId().toString());
                        }
                    } catch (UnknownTopicOrPartitionException missing) {
                        if (topics.contains(topic)) {
                            throw missing;
                        }
                    }
                });
        return new TargetEnds(ends(partitions, IsolationLevel.READ_UNCOMMITTED, timeout), ids);
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
     * @param records the records to search for, and where to end
     * @param from where to begin, by partition; others begin at their first record
     * @return the records of the query that the targets contain
     */
    WrittenRecords search(TargetScan scan, EarlierRecords records, Map<TopicPartition, Long> from, Duration timeout) {
        Map<TopicPartition, Long> until = records.until();
        Map<TopicPartition, Long> stable = new HashMap<>(until);
        if (!records.hasAborted()) {
            ends(until.keySet(), IsolationLevel.READ_COMMITTED, timeout)
                    .forEach((partition, end) -> stable.merge(partition, end, Math::min));
        }
        try (var committed = consumer(IsolationLevel.READ_COMMITTED)) {
            readReturned(scan, committed, records.returned(), from);
            scan.read(committed, from, stable);
        }
        if (!stable.equals(until)) {
            Map<TopicPartition, Long> rest = new HashMap<>(from);
            stable.forEach((partition, offset) -> rest.merge(partition, offset, Math::max));
            try (var uncommitted = consumer(IsolationLevel.READ_UNCOMMITTED)) {
                scan.read(uncommitted, rest, until);
            }
        }
        return scan.written();
    }

    /** Reads the ranges of INSERTs that were added again, up to where the search begins. */
    private static void readReturned(
            TargetScan scan,
            KafkaConsumer<byte[], byte[]> consumer,
            Map<TopicPartition, TargetRange> ranges,
            Map<TopicPartition, Long> from) {
        Map<TopicPartition, Long> begins = new HashMap<>();
        Map<TopicPartition, Long> ends = new HashMap<>();
        ranges.forEach((partition, range) -> {
            long end = Math.min(range.until(), from.getOrDefault(partition, 0L));
            if (range.from() < end) {
                begins.put(partition, range.from());
                ends.put(partition, end);
            }
        });
        scan.read(consumer, begins, ends);
    }

    private KafkaConsumer<byte[], byte[]> consumer(IsolationLevel isolation) {
        Map<String, Object> consumer = new HashMap<>(connection);
        consumer.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, isolation.toString());
        consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        consumer.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        return new KafkaConsumer<>(consumer, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
