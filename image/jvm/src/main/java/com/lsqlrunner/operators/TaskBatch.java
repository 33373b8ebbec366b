package com.lsqlrunner.operators;

import org.apache.spark.TaskContext;
import org.apache.spark.sql.SparkSession;

/** The batch of a task: local properties, which Spark sends with its tasks. */
public final class TaskBatch {
    /**
     * Spark's setting for aggregates that return a result for each row, in an open batch. It has no constant in 4.3.
     */
    public static final String BY_ROW = "spark.sql.streaming.useStreamlineAggregator";

    private static final String REPEATS_OPENING = "lsql.repeats.opening";

    private TaskBatch() {}

    /** Sets whether the next batch of this thread's query repeats one that a killed process had open. */
    public static void repeatsOpening(boolean repeats) {
        SparkSession.active().sparkContext().setLocalProperty(REPEATS_OPENING, repeats ? "true" : null);
    }

    /**
     * Whether the batch repeats one that a killed process had open. Then it has a result for each row of a table that
     * it has read a change of. If the row is that of before the batch, the result is marked as unchanged: it is only
     * written if the killed process has written one in between.
     */
    static boolean repeatsOpening() {
        return is(REPEATS_OPENING);
    }

    /** Whether the batch is open: each row is processed when it arrives. */
    static boolean isOpen() {
        return is(BY_ROW);
    }

    private static boolean is(String property) {
        TaskContext task = TaskContext.get();
        return task != null && "true".equals(task.getLocalProperty(property));
    }
}
