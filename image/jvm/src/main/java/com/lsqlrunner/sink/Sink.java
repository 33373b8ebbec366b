package com.lsqlrunner.sink;

import java.util.Iterator;

/** A server outside of Kafka that takes rows. One object serves all tasks at once. */
public interface Sink {
    /**
     * Checks before anything is written that the target is there and takes such rows; makes it where the program asks
     * for that.
     *
     * @throws SinkException nobody answers, the server refuses this client, or the target does not fit
     */
    void prepare(SinkTable table);

    /**
     * Writes the rows of one task and returns when the server has all of them. The same task of the same batch may come
     * again, with the same rows in the same order for each source; the target holds the same then.
     *
     * @throws SinkException nothing may count on what was written of the task
     */
    void write(SinkTable table, Task task, Iterator<SinkRow> rows);

    /**
     * A task of a batch.
     *
     * @param writer {@code <app id>/<query>}
     * @param run identity of the checkpoint that counts the batches
     * @param batch number of the batch in it
     * @param task number of the task in the batch
     */
    record Task(String writer, String run, long batch, int task) {}
}
