package com.lsqlrunner.sink;

import java.util.Iterator;

/** A server outside of Kafka to which rows are written. All tasks share one object. */
public interface Sink {
    /**
     * Checks before the first batch that the target exists and accepts the rows; creates it if the program says so.
     *
     * @throws SinkException the server does not answer or refuses this client, or the target does not fit
     */
    void prepare(SinkTable table);

    /**
     * Writes the rows of one task and returns when the server has all of them. The same task of the same batch may run
     * again, with the same rows in the same order for each {@link SinkRow#source}; the target must then have the same
     * content as before.
     *
     * @throws SinkException the rows of the task may be written in part, or not at all
     */
    void write(SinkTable table, Task task, Iterator<SinkRow> rows);

    /**
     * The last batch that the target has stored; -1 for none, or if rows may be written again.
     *
     * @param writer as in {@link Task}
     * @param run as in {@link Task}
     * @throws SinkException the server does not answer or refuses this client
     */
    default long newestBatch(SinkTable table, String writer, String run) {
        return -1;
    }

    /**
     * A task of a batch.
     *
     * @param writer {@code <app id>/<query>}
     * @param run the id of the checkpoint that numbers the batches
     * @param batch the number of the batch in the checkpoint
     * @param task the number of the task in the batch
     */
    record Task(String writer, String run, long batch, int task) {}
}
