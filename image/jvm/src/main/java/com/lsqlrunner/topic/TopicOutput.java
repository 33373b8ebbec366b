package com.lsqlrunner.topic;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.delivery.InsertPositions;
import com.lsqlrunner.delivery.Replay;
import com.lsqlrunner.delivery.SharedProducers;
import com.lsqlrunner.delivery.TransactionalOutput;
import com.lsqlrunner.fs.AtomicFile;
import com.lsqlrunner.sink.BatchGate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The output of one query to topics: whether it may write batches, and its producers. Python opens and closes it. */
@PythonEntry
public final class TopicOutput {
    /** The option of a sink whose tasks run in other JVMs. */
    public static final String ON_WORKERS = "on.workers";

    private static final ConcurrentMap<String, TopicOutput> OUTPUTS = new ConcurrentHashMap<>();

    private final String name;

    /** The name of this start of the query: on workers, producers of an earlier start may have failed. */
    private final String start = UUID.randomUUID().toString();

    private final BatchGate gate = new BatchGate();
    private final TransactionalOutput transactions;

    private TopicOutput(String name, TransactionalOutput transactions) {
        this.name = name;
        this.transactions = transactions;
    }

    /**
     * Opens the at-least-once output of a query, before the query starts.
     *
     * @param name {@code <app id>/<query>}
     */
    public static TopicOutput open(String name) {
        return opened(new TopicOutput(name, null));
    }

    /**
     * Opens the exactly-once output of a query, before the query starts: commits the transactions that an earlier
     * process has left open.
     *
     * @param name {@code <app id>/<query>}
     * @param writer {@code <app id>/<run>/<query>/}
     * @param targets the topics
     * @param checkpoint the folder of its checkpoint
     * @param options of {@code TopicSink}, {@code commit.interval.ms}, and {@code tasks}, the number of tasks that
     *     write at the same time
     * @param connection settings of all clients
     * @param batch the first batch that has not ended
     * @param hasBegun whether it is planned, and may have been written in part
     * @param inserts for a query without state: a list of {@link InsertPositions}, as JSON; null for one with state
     */
    public static TopicOutput openTransactional(
            String name,
            String writer,
            List<String> targets,
            String checkpoint,
            Map<String, String> options,
            Map<String, String> connection,
            long batch,
            boolean hasBegun,
            String inserts) {
        TransactionalOutput.Settings settings = new TransactionalOutput.Settings(
                writer,
                targets,
                AtomicFile.at(checkpoint + "/target-offsets"),
                AtomicFile.at(checkpoint + "/written-inserts"),
                AtomicFile.at(checkpoint + "/open-batch"),
                Map.copyOf(connection),
                Map.copyOf(KafkaOptions.of(options)),
                Duration.ofMillis(Long.parseLong(options.get("commit.interval.ms"))),
                Integer.parseInt(options.get("tasks")),
                Boolean.parseBoolean(options.get(ON_WORKERS)),
                Boolean.parseBoolean(options.get("deletes.rows")));
        Replay replay = new Replay(batch, hasBegun, inserts == null ? null : parsed(inserts), null);
        return opened(new TopicOutput(name, TransactionalOutput.open(settings, replay)));
    }

    /**
     * Commits the open transactions of a processor's queries that do not run any more, before its queries are opened.
     *
     * @param app {@code <app id>/}
     * @param writers of its queries, as in {@link #openTransactional}
     * @param connection settings of all clients
     */
    public static void commitAbandoned(String app, List<String> writers, Map<String, String> connection) {
        TransactionalOutput.commitAbandoned(app, List.copyOf(writers), Map.copyOf(connection), Map.copyOf(connection));
    }

    private static List<InsertPositions> parsed(String inserts) {
        try {
            return new ObjectMapper().readValue(inserts, new TypeReference<>() {});
        } catch (JsonProcessingException invalid) {
            throw new IllegalArgumentException(invalid);
        }
    }

    private static TopicOutput opened(TopicOutput output) {
        OUTPUTS.put(output.name, output);
        return output;
    }

    /** Prevents further batches from being written. */
    public void stop() {
        gate.stop();
    }

    /** Whether a batch is being written. */
    public boolean isWriting() {
        return gate.isWriting();
    }

    /** The milliseconds that the brokers allow a transaction; 0 if they allow what the processor wants. */
    public int transactionLimitMs() {
        return transactions == null ? 0 : transactions.limitMs();
    }

    /** After a producer was fenced: whether another process has replaced this one. */
    public boolean isReplaced() {
        return transactions != null && transactions.isReplaced();
    }

    /** Closes the producers, after the query has ended. */
    public void close() {
        OUTPUTS.remove(name, this);
        if (transactions == null) {
            SharedProducers.close(name);
        } else {
            transactions.close();
        }
    }

    /** The name of the present start of a query. */
    public static String start(String name) {
        return OUTPUTS.get(name).start;
    }

    public static BatchGate gate(String name) {
        return OUTPUTS.get(name).gate;
    }

    /** The transactions of an output; null if it is delivered at least once. */
    public static TransactionalOutput transactions(String name) {
        TopicOutput output = OUTPUTS.get(name);
        return output == null ? null : output.transactions;
    }

    /** As {@link TransactionalOutput#planPartial}, of a query. */
    public static void planPartial(String name) {
        TransactionalOutput transactions = transactions(name);
        if (transactions != null) {
            transactions.planPartial();
        }
    }

    /** As {@link TransactionalOutput#wasOpen}, of a query. */
    public static boolean wasOpen(String name) {
        TransactionalOutput transactions = transactions(name);
        return transactions != null && transactions.wasOpen();
    }
}
