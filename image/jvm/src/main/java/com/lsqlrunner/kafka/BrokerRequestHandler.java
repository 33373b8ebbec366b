package com.lsqlrunner.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DeleteConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DeleteTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.FenceProducersOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Executes requests with Kafka's own clients. Not thread-safe. */
final class BrokerRequestHandler {
    private final Map<String, Object> settings;
    private final int timeoutMs;
    private Admin admin;

    /**
     * @param first the first line of the input: {@code settings} of Kafka's client, and {@code request_timeout_ms}, the
     *     timeout of each request
     */
    BrokerRequestHandler(Map<String, Object> first) {
        timeoutMs = (int) number(first.get("request_timeout_ms"));
        settings = new HashMap<>();
        map(first.get("settings")).forEach((key, value) -> settings.put((String) key, value));
        settings.put("request.timeout.ms", timeoutMs);
        settings.put("default.api.timeout.ms", timeoutMs);
        settings.put("socket.connection.setup.timeout.ms", 5_000);
        settings.put(
                "metadata.recovery.strategy",
                "rebootstrap"); // finds the brokers again after all of them got new addresses
        settings.put("enable.metrics.push", false);
        settings.put("auto.include.jmx.reporter", false);
    }

    /** Creates the client. It logs in if the settings contain a login. */
    void connect() {
        if (admin != null) {
            return;
        }
        try {
            admin = Admin.create(settings);
        } catch (RuntimeException error) {
            throw new BrokerError.ClientCreationException(error);
        }
    }

    /** Closes the client after a failure. The next request creates a new client, which logs in again. */
    void disconnect() {
        if (admin != null) {
            admin.close(Duration.ZERO);
            admin = null;
        }
    }

    /** Executes the request that {@code ask} names, and writes its response. */
    void execute(Map<String, Object> request, ResponseWriter responses) throws Exception {
        connect();
        switch (String.valueOf(request.get("ask"))) {
            case "topics" -> responses.ok(topics());
            case "topic_ids" -> responses.ok(topicIds(list(request.get("topics"))));
            case "create" -> responses.ok(create(request));
            case "delete_topic" -> responses.ok(deleteTopic((String) request.get("name")));
            case "delete_group" -> responses.ok(deleteGroup((String) request.get("name")));
            case "configs" -> responses.ok(configs(list(request.get("topics")), list(request.get("settings"))));
            case "offsets" -> responses.ok(offsets(request));
            case "positions" -> responses.ok(positions(request));
            case "commit" -> responses.ok(commit(request));
            case "read" -> read(request, responses);
            case "rights" -> responses.ok(rights(list(request.get("topics"))));
            case "check_group" -> responses.ok(checkGroup((String) request.get("group")));
            case "transactional_id" -> responses.ok(checkTransactionalId((String) request.get("name")));
            default -> throw new IllegalArgumentException("unknown request " + request.get("ask"));
        }
    }

    /** The number of partitions of each topic. */
    private Map<String, Object> topics() throws Exception {
        Collection<String> names = await(
                admin.listTopics(new ListTopicsOptions().listInternal(true).timeoutMs(timeoutMs))
                        .names());
        Map<String, KafkaFuture<TopicDescription>> described = admin.describeTopics(
                        TopicCollection.ofTopicNames(names), new DescribeTopicsOptions().timeoutMs(timeoutMs))
                .topicNameValues();
        Map<String, Object> counts = new HashMap<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> topic : described.entrySet()) {
            try {
                counts.put(topic.getKey(), await(topic.getValue()).partitions().size());
            } catch (UnknownTopicOrPartitionException | TopicAuthorizationException deleted) {
                // The topic was deleted after it was listed, or must not be described.
            }
        }
        return counts;
    }

    /** The ids of topics as hexadecimal digits, empty from brokers without ids; without topics that do not exist. */
    private Map<String, Object> topicIds(List<?> topics) throws Exception {
        Collection<String> names = topics.stream().map(String::valueOf).collect(Collectors.toList());
        Map<String, KafkaFuture<TopicDescription>> described = admin.describeTopics(
                        TopicCollection.ofTopicNames(names), new DescribeTopicsOptions().timeoutMs(timeoutMs))
                .topicNameValues();
        Map<String, Object> ids = new HashMap<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> topic : described.entrySet()) {
            try {
                ids.put(topic.getKey(), hexadecimal(await(topic.getValue()).topicId()));
            } catch (UnknownTopicOrPartitionException missing) {
                // A topic that does not exist has no id.
            }
        }
        return ids;
    }

    private static String hexadecimal(Uuid id) {
        return id.equals(Uuid.ZERO_UUID)
                ? ""
                : String.format("%016x%016x", id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    private Object create(Map<String, Object> request) throws Exception {
        Map<String, String> config = new HashMap<>();
        map(request.get("config")).forEach((key, value) -> config.put((String) key, (String) value));
        Optional<Integer> partitions =
                Optional.ofNullable((Long) request.get("partitions")).map(Long::intValue);
        Optional<Short> replication =
                Optional.ofNullable((Long) request.get("replication")).map(Long::shortValue);
        NewTopic topic = new NewTopic((String) request.get("name"), partitions, replication).configs(config);
        boolean validateOnly = Boolean.TRUE.equals(request.get("validate_only"));
        CreateTopicsOptions options =
                new CreateTopicsOptions().timeoutMs(timeoutMs).validateOnly(validateOnly);
        await(admin.createTopics(List.of(topic), options).all());
        return null;
    }

    /** Succeeds if the topic does not exist. */
    private Object deleteTopic(String name) throws Exception {
        try {
            await(admin.deleteTopics(List.of(name), new DeleteTopicsOptions().timeoutMs(timeoutMs))
                    .all());
        } catch (UnknownTopicOrPartitionException absent) {
            // It is already deleted.
        }
        return null;
    }

    /** Succeeds if the group does not exist. */
    private Object deleteGroup(String name) throws Exception {
        try {
            await(admin.deleteConsumerGroups(List.of(name), new DeleteConsumerGroupsOptions().timeoutMs(timeoutMs))
                    .all());
        } catch (GroupIdNotFoundException absent) {
            // It is already deleted.
        }
        return null;
    }

    /**
     * Some settings of topics, as {@code [topic, {setting: value}]}, without the topics whose settings cannot be read.
     */
    private List<Object> configs(List<?> topics, List<?> settings) throws InterruptedException {
        List<ConfigResource> requested = new ArrayList<>();
        topics.forEach(name -> requested.add(new ConfigResource(ConfigResource.Type.TOPIC, (String) name)));
        List<Object> rows = new ArrayList<>();
        for (Map.Entry<ConfigResource, KafkaFuture<org.apache.kafka.clients.admin.Config>> described :
                admin.describeConfigs(requested, new DescribeConfigsOptions().timeoutMs(timeoutMs))
                        .values()
                        .entrySet()) {
            try {
                org.apache.kafka.clients.admin.Config config = await(described.getValue());
                Map<String, String> values = new HashMap<>();
                config.entries().stream()
                        .filter(each -> settings.contains(each.name()))
                        .forEach(each -> values.put(each.name(), each.value()));
                rows.add(List.of(described.getKey().name(), values));
            } catch (InterruptedException end) {
                throw end;
            } catch (Exception refused) {
                // A missing setting is not an error: a record that the topic does not accept fails later.
            }
        }
        return rows;
    }

    /** The end or the start offsets of partitions, as {@code [topic, partition, offset]}. */
    private List<Object> offsets(Map<String, Object> request) throws Exception {
        OffsetSpec spec;
        if (request.get("at") instanceof Number since) {
            spec = OffsetSpec.forTimestamp(since.longValue());
        } else {
            spec = "end".equals(request.get("at")) ? OffsetSpec.latest() : OffsetSpec.earliest();
        }
        Map<TopicPartition, OffsetSpec> requested = new HashMap<>();
        list(request.get("partitions")).forEach(partition -> requested.put(toPartition(partition), spec));
        Map<TopicPartition, ListOffsetsResultInfo> offsets =
                await(admin.listOffsets(requested, new ListOffsetsOptions().timeoutMs(timeoutMs))
                        .all());
        List<Object> rows = new ArrayList<>();
        offsets.forEach((partition, info) -> rows.add(row(partition, info.offset())));
        return rows;
    }

    /**
     * The committed offsets of a group, as {@code [topic, partition, offset, metadata]}. Partitions without a committed
     * offset are left out.
     */
    private List<Object> positions(Map<String, Object> request) throws Exception {
        String group = (String) request.get("group");
        List<TopicPartition> requested = new ArrayList<>();
        list(request.get("partitions")).forEach(partition -> requested.add(toPartition(partition)));
        Map<TopicPartition, OffsetAndMetadata> positions = awaitOfGroup(
                group,
                admin.listConsumerGroupOffsets(
                                Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(requested)),
                                new ListConsumerGroupOffsetsOptions().timeoutMs(timeoutMs))
                        .partitionsToOffsetAndMetadata(group));
        List<Object> rows = new ArrayList<>();
        for (TopicPartition partition : requested) {
            // The client leaves out partitions that the brokers refuse to show, and returns null for partitions without
            // a committed offset.
            if (!positions.containsKey(partition)) {
                throw new TopicAuthorizationException("the committed offset of " + partition + " is not readable");
            }
            OffsetAndMetadata position = positions.get(partition);
            if (position != null && position.offset() >= 0) {
                rows.add(List.of(partition.topic(), partition.partition(), position.offset(), position.metadata()));
            }
        }
        return rows;
    }

    private Object commit(Map<String, Object> request) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (Object row : list(request.get("positions"))) {
            List<?> fields = list(row);
            positions.put(toPartition(row), new OffsetAndMetadata(number(fields.get(2)), (String) fields.get(3)));
        }
        String group = (String) request.get("group");
        awaitOfGroup(
                group,
                admin.alterConsumerGroupOffsets(
                                group, positions, new AlterConsumerGroupOffsetsOptions().timeoutMs(timeoutMs))
                        .all());
        return null;
    }

    /** Succeeds if the client may read and commit positions of a group, or if the brokers do not report rights. */
    private Object checkGroup(String group) throws Exception {
        Set<AclOperation> allowed = awaitOfGroup(
                        group,
                        admin.describeConsumerGroups(
                                        List.of(group),
                                        new DescribeConsumerGroupsOptions()
                                                .includeAuthorizedOperations(true)
                                                .timeoutMs(timeoutMs))
                                .describedGroups()
                                .get(group))
                .authorizedOperations();
        if (allowed != null && !allowed.contains(AclOperation.READ)) {
            throw groupRefused(group);
        }
        return null;
    }

    private static GroupAuthorizationException groupRefused(String group) {
        return new GroupAuthorizationException("the ACLs do not allow Read on the group " + group);
    }

    /** Like {@code await}. If the brokers refuse the group, the message of the exception names it. */
    private <T> T awaitOfGroup(String group, KafkaFuture<T> future) throws Exception {
        try {
            return await(future);
        } catch (GroupAuthorizationException refused) {
            throw groupRefused(group);
        }
    }

    /**
     * Reads the records of {@code [topic, partition, start, end]}, with an exclusive end. Stops after the record with
     * which the size reaches {@code most_bytes}.
     */
    private void read(Map<String, Object> request, ResponseWriter responses) throws IOException, InterruptedException {
        Map<TopicPartition, OffsetRangeReader.OffsetRange> ranges = new HashMap<>();
        for (Object row : list(request.get("spans"))) {
            ranges.put(
                    toPartition(row),
                    new OffsetRangeReader.OffsetRange(
                            number(list(row).get(2)), number(list(row).get(3))));
        }
        try (OffsetRangeReader reader = new OffsetRangeReader(settings, timeoutMs)) {
            reader.read(ranges, number(request.get("most_bytes")), responses);
        }
        responses.ok(null);
    }

    /**
     * The operations that the client may perform on topics, as {@code [topic, [operation, ...]]}; without topics that
     * do not exist or whose rights the brokers do not report.
     */
    private List<Object> rights(List<?> topics) throws Exception {
        Collection<String> names = topics.stream().map(String::valueOf).collect(Collectors.toList());
        Map<String, KafkaFuture<TopicDescription>> described = admin.describeTopics(
                        TopicCollection.ofTopicNames(names),
                        new DescribeTopicsOptions()
                                .includeAuthorizedOperations(true)
                                .timeoutMs(timeoutMs))
                .topicNameValues();
        List<Object> rows = new ArrayList<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> topic : described.entrySet()) {
            try {
                Set<AclOperation> allowed = await(topic.getValue()).authorizedOperations();
                if (allowed != null) {
                    rows.add(List.of(
                            topic.getKey(), allowed.stream().map(Enum::name).collect(Collectors.toList())));
                }
            } catch (TopicAuthorizationException refused) {
                rows.add(List.of(topic.getKey(), List.of()));
            } catch (UnknownTopicOrPartitionException missing) {
                // A topic that does not exist has no rights.
            }
        }
        return rows;
    }

    /**
     * Succeeds if the client may write transactions with an id. The request has a longer transaction timeout than
     * brokers allow: they check the rights, then refuse the timeout, and store nothing.
     */
    private Object checkTransactionalId(String name) throws Exception {
        try {
            admin.fenceProducers(List.of(name), new FenceProducersOptions().timeoutMs(Integer.MAX_VALUE))
                    .all()
                    .get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            if (!(error.getCause() instanceof InvalidTxnTimeoutException)) {
                throw error;
            }
        }
        return null;
    }

    /** The result of a future, or the exception with which it failed. */
    private <T> T await(KafkaFuture<T> future) throws InterruptedException, TimeoutException {
        try {
            return future.get(2L * timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            throw error.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(error);
        }
    }

    private static List<Object> row(TopicPartition partition, long offset) {
        return Arrays.asList(partition.topic(), partition.partition(), offset);
    }

    private static TopicPartition toPartition(Object row) {
        return new TopicPartition(
                (String) list(row).get(0), (int) number(list(row).get(1)));
    }

    private static List<?> list(Object value) {
        return (List<?>) value;
    }

    private static Map<?, ?> map(Object value) {
        return (Map<?, ?>) value;
    }

    private static long number(Object value) {
        return (Long) value;
    }
}
