package com.lsqlrunner.realtime;

import com.lsqlrunner.delivery.RecordSender;
import com.lsqlrunner.topic.Acknowledgements;
import com.lsqlrunner.topic.BatchAcknowledgements;
import com.lsqlrunner.topic.TopicWriter;
import java.time.Duration;
import java.util.function.Function;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.spark.sql.catalyst.InternalRow;

/** Writes the results of a task of an open batch, and commits them after each interval. */
final class OpenWriter extends BatchAcknowledgements implements OpenTask.Rows {
    private final TopicWriter writer;
    private final Duration interval;
    private final Runnable hasWritten;
    private RecordSender sender;
    private boolean isUncommitted;
    private long committedNanos = System.nanoTime();

    /**
     * @param interval the shortest time between two commits, and the longest that a result waits for one
     * @param hasWritten called for each record that the brokers have acknowledged
     */
    OpenWriter(Function<Acknowledgements, TopicWriter> writers, Duration interval, Runnable hasWritten) {
        this.hasWritten = hasWritten;
        this.writer = writers.apply(this);
        this.interval = interval;
    }

    @Override
    public void accept(Object row) {
        writer.write((InternalRow) row);
        if (isUncommitted) {
            idle(); // rows may come without a pause
        } else {
            isUncommitted = true;
        }
    }

    @Override
    public Duration idle() {
        if (!isUncommitted) {
            return FOREVER;
        }
        long now = System.nanoTime();
        long left = committedNanos + interval.toNanos() - now;
        if (left > 0) {
            return Duration.ofNanos(left);
        }
        sender.commitTransaction();
        throwFailure();
        committedNanos = now;
        isUncommitted = false;
        return FOREVER;
    }

    @Override
    public void end() {
        writer.commit();
        writer.close();
    }

    @Override
    public void fail() {
        writer.abort();
        writer.close();
    }

    @Override
    public void writesWith(RecordSender ofTask) {
        sender = ofTask;
    }

    @Override
    public void onCompletion(RecordMetadata metadata, Exception error) {
        super.onCompletion(metadata, error);
        if (error == null) {
            hasWritten.run();
        }
    }
}
