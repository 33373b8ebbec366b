package com.lsqlrunner.realtime;

import com.lsqlrunner.topic.Acknowledgements;
import com.lsqlrunner.topic.TopicWriter;
import java.time.Duration;
import java.util.function.Function;

/** Where the results of open batches are written. */
public interface OpenOutput {
    /** Opens a batch; its writers, by task. */
    Function<Acknowledgements, TopicWriter> open(long batch);

    /** All results of the open batch are committed. */
    void close(long batch);

    /** Whether the next batch must be open, because a killed process had it open and has written results of it. */
    boolean mustOpen();

    /** After which results are committed. */
    Duration commitInterval();
}
