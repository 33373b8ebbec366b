package com.lsqlrunner.sink;

import org.apache.spark.api.java.function.VoidFunction2;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Writes the micro-batches of one query. {@link #stop} lets the current batch end; a later batch fails before anything
 * is written.
 */
public abstract class StoppableWriter implements VoidFunction2<Dataset<Row>, Long> {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // never serialized
    private final BatchGate gate = new BatchGate();

    /** Writes a batch and returns when its target has the whole batch. */
    protected abstract void write(Dataset<Row> records, long batchId);

    @Override
    public final void call(Dataset<Row> records, Long batchId) {
        gate.begin();
        try {
            write(records, batchId);
        } finally {
            gate.end();
        }
    }

    /** Prevents further batches from beginning. */
    public final void stop() {
        gate.stop();
    }

    /** Whether a batch is being written. */
    public final boolean isWriting() {
        return gate.isWriting();
    }
}
