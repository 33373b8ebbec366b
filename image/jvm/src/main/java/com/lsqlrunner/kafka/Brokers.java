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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DeleteConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DeleteTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
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
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The questions, asked through Kafka's own clients. One thread at a time. */
final class Brokers {
    private final Map<String, Object> settings;
    private final int answerMs;
    private Admin admin;

    /** @param first the first line: {@code settings} and {@code answer_ms}, the deadline of each question */
    Brokers(Map<String, Object> first) {
        answerMs = (int) number(first.get("answer_ms"));
        settings = new HashMap<>();
        map(first.get("settings")).forEach((key, value) -> settings.put((String) key, value));
        settings.put("request.timeout.ms", answerMs);
        settings.put("default.api.timeout.ms", answerMs);
        settings.put("socket.connection.setup.timeout.ms", 5_000);
        settings.put("metadata.recovery.strategy", "rebootstrap"); // brokers that all moved are found again
        settings.put("enable.metrics.push", false);
        settings.put("auto.include.jmx.reporter", false);
    }

    /** Makes the client, logging in where the settings say so. */
    void connect() {
        if (admin != null) {
            return;
        }
        try {
            admin = Admin.create(settings);
        } catch (RuntimeException error) {
            throw new BrokerError.ClientNotMade(error);
        }
    }

    /** Lets the client go: after a failure the next question gets a new one, which logs in anew. */
    void forget() {
        if (admin != null) {
            admin.close(Duration.ZERO);
            admin = null;
        }
    }

    void answer(Map<String, Object> question, AnswerWriter answers) throws Exception {
        connect();
        switch (String.valueOf(question.get("ask"))) {
            case "topics" -> answers.ok(topics());
            case "create" -> answers.ok(create(question));
            case "delete_topic" -> answers.ok(deleteTopic((String) question.get("name")));
            case "delete_group" -> answers.ok(deleteGroup((String) question.get("name")));
            case "limits" -> answers.ok(limits(list(question.get("topics"))));
            case "offsets" -> answers.ok(offsets(question));
            case "positions" -> answers.ok(positions(question));
            case "commit" -> answers.ok(commit(question));
            case "read" -> read(question, answers);
            default -> throw new IllegalArgumentException("there is no question " + question.get("ask"));
        }
    }

    /** The number of partitions by topic. */
    private Map<String, Object> topics() throws Exception {
        Collection<String> names =
                got(admin.listTopics(new ListTopicsOptions().listInternal(true).timeoutMs(answerMs))
                        .names());
        Map<String, KafkaFuture<TopicDescription>> described = admin.describeTopics(
                        TopicCollection.ofTopicNames(names), new DescribeTopicsOptions().timeoutMs(answerMs))
                .topicNameValues();
        Map<String, Object> found = new HashMap<>();
        for (Map.Entry<String, KafkaFuture<TopicDescription>> topic : described.entrySet()) {
            try {
                found.put(topic.getKey(), got(topic.getValue()).partitions().size());
            } catch (UnknownTopicOrPartitionException | TopicAuthorizationException deleted) {
                // It was there a moment ago.
            }
        }
        return found;
    }

    private Object create(Map<String, Object> question) throws Exception {
        Map<String, String> config = new HashMap<>();
        map(question.get("config")).forEach((key, value) -> config.put((String) key, (String) value));
        Optional<Integer> partitions =
                Optional.ofNullable((Long) question.get("partitions")).map(Long::intValue);
        Optional<Short> replication =
                Optional.ofNullable((Long) question.get("replication")).map(Long::shortValue);
        NewTopic topic = new NewTopic((String) question.get("name"), partitions, replication).configs(config);
        boolean validateOnly = Boolean.TRUE.equals(question.get("validate_only"));
        CreateTopicsOptions options =
                new CreateTopicsOptions().timeoutMs(answerMs).validateOnly(validateOnly);
        got(admin.createTopics(List.of(topic), options).all());
        return null;
    }

    /** A topic that is not there is left alone. */
    private Object deleteTopic(String name) throws Exception {
        try {
            got(admin.deleteTopics(List.of(name), new DeleteTopicsOptions().timeoutMs(answerMs))
                    .all());
        } catch (UnknownTopicOrPartitionException absent) {
            // Nothing to do.
        }
        return null;
    }

    /** A group that is not there is left alone. */
    private Object deleteGroup(String name) throws Exception {
        try {
            got(admin.deleteConsumerGroups(List.of(name), new DeleteConsumerGroupsOptions().timeoutMs(answerMs))
                    .all());
        } catch (GroupIdNotFoundException absent) {
            // Nothing to do.
        }
        return null;
    }

    /** What topics take, as {@code [topic, max.message.bytes, cleanup.policy]}; without those that do not tell. */
    private List<Object> limits(List<?> topics) throws InterruptedException {
        List<ConfigResource> asked = new ArrayList<>();
        topics.forEach(name -> asked.add(new ConfigResource(ConfigResource.Type.TOPIC, (String) name)));
        List<Object> rows = new ArrayList<>();
        for (Map.Entry<ConfigResource, KafkaFuture<org.apache.kafka.clients.admin.Config>> told : admin.describeConfigs(
                        asked, new DescribeConfigsOptions().timeoutMs(answerMs))
                .values()
                .entrySet()) {
            try {
                org.apache.kafka.clients.admin.Config config = got(told.getValue());
                long bytes = Long.parseLong(
                        config.get(TopicConfig.MAX_MESSAGE_BYTES_CONFIG).value());
                rows.add(List.of(
                        told.getKey().name(),
                        bytes,
                        config.get(TopicConfig.CLEANUP_POLICY_CONFIG).value()));
            } catch (InterruptedException end) {
                throw end;
            } catch (Exception refused) {
                // What nobody tells is found out later.
            }
        }
        return rows;
    }

    /** The end or the beginning of partitions, as {@code [topic, partition, offset]}. */
    private List<Object> offsets(Map<String, Object> question) throws Exception {
        OffsetSpec spec = "end".equals(question.get("at")) ? OffsetSpec.latest() : OffsetSpec.earliest();
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        list(question.get("partitions")).forEach(place -> asked.put(partition(place), spec));
        Map<TopicPartition, ListOffsetsResultInfo> found =
                got(admin.listOffsets(asked, new ListOffsetsOptions().timeoutMs(answerMs))
                        .all());
        List<Object> rows = new ArrayList<>();
        found.forEach((place, info) -> rows.add(row(place, info.offset())));
        return rows;
    }

    /** What a group has committed, as {@code [topic, partition, offset]}; others are left out. */
    private List<Object> positions(Map<String, Object> question) throws Exception {
        String group = (String) question.get("group");
        List<TopicPartition> asked = new ArrayList<>();
        list(question.get("partitions")).forEach(place -> asked.add(partition(place)));
        Map<TopicPartition, OffsetAndMetadata> found = got(admin.listConsumerGroupOffsets(
                        Map.of(group, new ListConsumerGroupOffsetsSpec().topicPartitions(asked)),
                        new ListConsumerGroupOffsetsOptions().timeoutMs(answerMs))
                .partitionsToOffsetAndMetadata(group));
        List<Object> rows = new ArrayList<>();
        for (TopicPartition place : asked) {
            // The client leaves out what the brokers refuse to show, and has null for what was never committed.
            if (!found.containsKey(place)) {
                throw new TopicAuthorizationException("the group's position at " + place + " is not shown");
            }
            OffsetAndMetadata position = found.get(place);
            if (position != null && position.offset() >= 0) {
                rows.add(row(place, position.offset()));
            }
        }
        return rows;
    }

    private Object commit(Map<String, Object> question) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (Object row : list(question.get("positions"))) {
            positions.put(partition(row), new OffsetAndMetadata(number(list(row).get(2))));
        }
        got(admin.alterConsumerGroupOffsets(
                        (String) question.get("group"),
                        positions,
                        new AlterConsumerGroupOffsetsOptions().timeoutMs(answerMs))
                .all());
        return null;
    }

    /** The records of {@code [topic, partition, start, end]}, end exclusive. */
    private void read(Map<String, Object> question, AnswerWriter answers) throws IOException {
        Map<TopicPartition, SpanReader.Span> spans = new HashMap<>();
        for (Object row : list(question.get("spans"))) {
            spans.put(
                    partition(row),
                    new SpanReader.Span(
                            number(list(row).get(2)), number(list(row).get(3))));
        }
        try (SpanReader reader = new SpanReader(settings, answerMs)) {
            reader.read(spans, answers);
        }
        answers.ok(null);
    }

    /** What a future holds, or the exception it failed with. */
    private <T> T got(KafkaFuture<T> future) throws InterruptedException, TimeoutException {
        try {
            return future.get(2L * answerMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException error) {
            throw error.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(error);
        }
    }

    private static List<Object> row(TopicPartition place, long offset) {
        return Arrays.asList(place.topic(), place.partition(), offset);
    }

    private static TopicPartition partition(Object row) {
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
