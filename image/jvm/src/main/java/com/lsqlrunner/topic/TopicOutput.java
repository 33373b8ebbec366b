package com.lsqlrunner.topic;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.sink.BatchGate;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** The output of one query to topics: whether it may write batches, and its producer. Python opens and closes it. */
@PythonEntry
public final class TopicOutput {
    private static final ConcurrentMap<String, TopicOutput> OUTPUTS = new ConcurrentHashMap<>();

    private final String name;
    private final BatchGate gate = new BatchGate();

    private TopicOutput(String name) {
        this.name = name;
    }

    /**
     * Opens the output of a query, before the query starts.
     *
     * @param name {@code <app id>/<query>}
     */
    public static TopicOutput open(String name) {
        TopicOutput output = new TopicOutput(name);
        OUTPUTS.put(name, output);
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

    /** Closes the producer, after the query has ended. */
    public void close() {
        OUTPUTS.remove(name, this);
        Producers.close(name);
    }

    static BatchGate gate(String name) {
        return OUTPUTS.get(name).gate;
    }
}
