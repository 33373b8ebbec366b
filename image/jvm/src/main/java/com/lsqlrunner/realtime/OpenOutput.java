package com.lsqlrunner.realtime;

import com.lsqlrunner.topic.Acknowledgements;
import com.lsqlrunner.topic.TopicWriter;
import java.time.Duration;
import java.util.function.Function;

/** Where the results of open batches are written. */
public interface OpenOutput {
    /** Opens a batch; its writers, by task. */
    Function<Acknowledgements, TopicWriter> open(long batch);

    /** Whether the next batch repeats one that an earlier process had open. Then it is not opened. */
    boolean isRepeating();

    /** After which results are committed. */
    Duration commitInterval();
}
