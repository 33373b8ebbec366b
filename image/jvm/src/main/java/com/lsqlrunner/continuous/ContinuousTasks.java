package com.lsqlrunner.continuous;

import com.lsqlrunner.topic.Acknowledgements;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** The running tasks of continuous queries. Reader and writer of a task share its progress through this class. */
public final class ContinuousTasks {
    private static final ConcurrentMap<Long, ContinuousTask> RUNNING = new ConcurrentHashMap<>();

    private ContinuousTasks() {}

    /** Adds the task of this thread, until it ends. */
    static void add(ContinuousTask task) {
        TaskContext context = TaskContext.get();
        RUNNING.put(context.taskAttemptId(), task);
        TaskCompletionListener remove = ended -> RUNNING.remove(ended.taskAttemptId());
        context.addTaskCompletionListener(remove);
    }

    /** The task of this thread. It exists when the first record has been read. */
    public static Acknowledgements current() {
        return RUNNING.get(TaskContext.get().taskAttemptId());
    }
}
