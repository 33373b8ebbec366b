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

    private boolean stopping;
    private boolean writing;

    /** Writes a batch and returns when its target has the whole batch. */
    protected abstract void write(Dataset<Row> records, long batchId);

    @Override
    public final void call(Dataset<Row> records, Long batchId) {
        begin();
        try {
            write(records, batchId);
        } finally {
            end();
        }
    }

    private synchronized void begin() {
        if (stopping) {
            throw new IllegalStateException("the query is being stopped; nothing of this batch is written");
        }
        writing = true;
    }

    private synchronized void end() {
        writing = false;
    }

    /** Prevents further batches from starting. */
    public synchronized void stop() {
        stopping = true;
    }

    /** Whether a batch is being written. */
    public synchronized boolean isWriting() {
        return writing;
    }
}
