package com.lsqlrunner.topic;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.errors.Unchecked;
import com.lsqlrunner.fs.StateFiles;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The partitions of a topic on the brokers, and their offsets. */
public final class TopicPartitions implements AutoCloseable {
    /** A broker that has just started does not know all topics yet, and the client does not repeat this request. */
    private static final int ATTEMPTS = 3;

    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** Before the JSON of the first positions, as in the files of Spark's Kafka source. */
    private static final String VERSION = "\0v1\n";

    private final String topic;
    private final boolean failOnDataLoss;
    private final OffsetSpec reset;
    private final Map<TopicPartition, Long> starts;
    private final Map<String, Object> settings;
    private final ListOffsetsOptions isolation;
    private Admin admin;
    private volatile boolean isClosed;

    /**
     * Opens no connection yet.
     *
     * @param options {@code subscribe} (the topic), {@code startingOffsets} ({@code earliest} or {@code latest}),
     *     {@code starts} (the JSON of positions of some partitions, which begin at these), {@code failOnDataLoss}, and
     *     the settings of a consumer
     */
    public TopicPartitions(CaseInsensitiveStringMap options) {
        this.topic = options.get("subscribe");
        this.failOnDataLoss = options.getBoolean("failOnDataLoss", true);
        this.reset = "latest".equals(options.get("startingOffsets")) ? OffsetSpec.latest() : OffsetSpec.earliest();
        this.starts = Positions.of(Positions.parse(options.getOrDefault("starts", "{}")));
        this.settings = new HashMap<>(KafkaOptions.of(options.asCaseSensitiveMap()));
        Object level =
                settings.getOrDefault(ConsumerConfig.ISOLATION_LEVEL_CONFIG, ConsumerConfig.DEFAULT_ISOLATION_LEVEL);
        this.isolation =
                new ListOffsetsOptions(IsolationLevel.valueOf(level.toString().toUpperCase(Locale.ROOT)));
    }

    /** The topic. */
    public String topic() {
        return topic;
    }

    /** The ends of all partitions. Ends before the positions are requested again, in case a broker is behind. */
    public Map<TopicPartition, Long> ends(Map<TopicPartition, Long> positions) {
        for (int attempt = 1; ; attempt++) {
            Map<TopicPartition, Long> ends =
                    request(client -> offsets(client, partitions(client), OffsetSpec.latest()));
            if (attempt == ATTEMPTS
                    || positions.entrySet().stream()
                            .noneMatch(each -> ends.getOrDefault(each.getKey(), Long.MAX_VALUE) < each.getValue())) {
                return ends;
            }
            pause();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE.toMillis());
        } catch (InterruptedException interrupt) {
            throw Unchecked.thrown(interrupt);
        }
    }

    /** The first offsets of partitions. */
    public Map<TopicPartition, Long> begins(Collection<TopicPartition> partitions) {
        return partitions.isEmpty() ? Map.of() : request(client -> offsets(client, partitions, OffsetSpec.earliest()));
    }

    /** The first positions of a stream: those in the folder, or those of the options, which this method saves there. */
    public Positions initial(String folder) {
        String file = folder + "/0";
        byte[] saved = StateFiles.read(file);
        if (saved != null) {
            return Positions.parse(new String(saved, StandardCharsets.UTF_8).substring(VERSION.length()));
        }
        Map<TopicPartition, Long> first = new HashMap<>(request(client -> offsets(client, partitions(client), reset)));
        first.putAll(starts);
        Positions positions = new Positions(first);
        StateFiles.create(file, (VERSION + positions.json()).getBytes(StandardCharsets.UTF_8));
        return positions;
    }

    /**
     * The records between positions; those of a partition without a position from its first one.
     *
     * @throws LsqlException if a position does not exist, and missing records are an error
     */
    public List<OffsetRange> ranges(Map<TopicPartition, Long> from, Map<TopicPartition, Long> until) {
        Set<TopicPartition> added = new HashSet<>(until.keySet());
        added.removeAll(from.keySet());
        Map<TopicPartition, Long> begins = new HashMap<>(begins(added));
        if (failOnDataLoss) {
            begins.forEach((partition, begin) -> checkExists(partition, 0, begin == 0));
            from.forEach((partition, position) ->
                    checkExists(partition, position, position <= until.getOrDefault(partition, -1L)));
        }
        begins.putAll(from);
        List<OffsetRange> ranges = new ArrayList<>();
        until.forEach((partition, end) -> {
            if (begins.get(partition) < end) {
                ranges.add(new OffsetRange(partition, begins.get(partition), end));
            }
        });
        return ranges;
    }

    private static void checkExists(TopicPartition partition, long offset, boolean exists) {
        if (!exists) {
            throw new LsqlException(
                    Condition.LSQL_OFFSET_MISSING,
                    Map.of(
                            "topic", partition.topic(),
                            "partition", Integer.toString(partition.partition()),
                            "offset", Long.toString(offset)));
        }
    }

    private Set<TopicPartition> partitions(Admin client) throws ExecutionException, InterruptedException {
        return client.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream()
                .map(each -> new TopicPartition(topic, each.partition()))
                .collect(Collectors.toSet());
    }

    private Map<TopicPartition, Long> offsets(Admin client, Collection<TopicPartition> partitions, OffsetSpec spec)
            throws ExecutionException, InterruptedException {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        client.listOffsets(partitions.stream().collect(Collectors.toMap(Function.identity(), each -> spec)), isolation)
                .all()
                .get()
                .forEach((partition, info) -> offsets.put(partition, info.offset()));
        return offsets;
    }

    private interface Request {
        Map<TopicPartition, Long> send(Admin client) throws ExecutionException, InterruptedException;
    }

    private Map<TopicPartition, Long> request(Request request) {
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    return request.send(client());
                } catch (ExecutionException failed) {
                    if (attempt == ATTEMPTS || isClosed || !(failed.getCause() instanceof RetriableException)) {
                        throw failed.getCause();
                    }
                }
                pause();
            }
        } catch (Throwable failed) {
            throw Unchecked.thrown(failed);
        }
    }

    private synchronized Admin client() {
        if (admin == null) {
            admin = Admin.create(settings);
        }
        return admin;
    }

    /** Ends the requests of other threads. */
    @Override
    public synchronized void close() {
        isClosed = true;
        if (admin != null) {
            admin.close(Duration.ZERO);
        }
    }
}
