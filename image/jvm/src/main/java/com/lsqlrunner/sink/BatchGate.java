package com.lsqlrunner.sink;

/** Lets batches of a query be written until the query is being stopped. */
public final class BatchGate {
    private boolean stopping;
    private boolean writing;

    /** Begins to write a batch. Throws an exception if the query is being stopped. */
    public void begin() {
        begin(false);
    }

    /**
     * Begins to write a batch.
     *
     * @param isProcessed whether its results are written already, so that it may also end while the query is being
     *     stopped
     */
    public synchronized void begin(boolean isProcessed) {
        if (stopping && !isProcessed) {
            throw new IllegalStateException("the query is being stopped; nothing of this batch is written");
        }
        writing = true;
    }

    public synchronized void end() {
        writing = false;
    }

    /** Prevents further batches from beginning. */
    public synchronized void stop() {
        stopping = true;
    }

    /** Whether a batch is being written. */
    public synchronized boolean isWriting() {
        return writing;
    }
}
