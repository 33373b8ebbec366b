package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.List;

/**
 * The report to the driver of a task that has committed its records.
 *
 * @param number of the task
 * @param owner the producer that has its transactional id now
 * @param left the number of records that it has left out, because an earlier process had written them
 * @param opened the identities of results that an earlier process has written while the batch was open, and that the
 *     task has left out or written with another value
 */
public record TaskResult(int number, ProducerOwner owner, long left, List<RecordIdentity> opened)
        implements Serializable {
    private static final long serialVersionUID = 1L;
}
