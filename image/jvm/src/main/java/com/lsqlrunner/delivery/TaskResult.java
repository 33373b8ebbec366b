package com.lsqlrunner.delivery;

import java.io.Serializable;

/**
 * The report to the driver of a task that has committed its records.
 *
 * @param number of the task
 * @param owner the producer that has its transactional id now
 * @param left the number of records that it has left out, because an earlier process had written them
 */
public record TaskResult(int number, ProducerOwner owner, long left) implements Serializable {
    private static final long serialVersionUID = 1L;
}
