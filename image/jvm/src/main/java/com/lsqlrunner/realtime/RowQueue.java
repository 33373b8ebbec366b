package com.lsqlrunner.realtime;

import com.lsqlrunner.errors.Unchecked;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.Product2;
import scala.Tuple2;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/** The rows of one partition on their way from the tasks of a stage to a task of the next one. */
final class RowQueue {
    /** A task waits when its readers are behind by this number of rows. */
    private static final int MOST = 1_024;

    private static final Duration CHECK = Duration.ofSeconds(1);
    private static final Object END = new Object();

    private final ArrayBlockingQueue<Object> rows = new ArrayBlockingQueue<>(MOST);
    private int writers;
    private volatile boolean isAborted;

    RowQueue(int writers) {
        this.writers = writers;
    }

    void add(InternalRow row) throws InterruptedException {
        if (isAborted) {
            throw new InterruptedException();
        }
        rows.put(row);
    }

    /** Lets a task that takes rows fail, also if a library has swallowed its interrupt. */
    void abort() {
        isAborted = true;
        rows.clear(); // lets writers go on
    }

    void endWriter() throws InterruptedException {
        rows.put(END);
    }

    /**
     * The rows, with the number of the partition.
     *
     * @param idle called when all rows before have passed through the whole task; returns the time after which to call
     *     it again
     */
    <K, C> Iterator<Product2<K, C>> rows(Integer partition, Supplier<Duration> idle) {
        return new AbstractIterator<>() {
            private Object next;

            @Override
            public boolean hasNext() {
                try {
                    while (next == null && writers > 0) {
                        take();
                    }
                } catch (InterruptedException interrupt) {
                    throw Unchecked.thrown(interrupt);
                }
                return next != null;
            }

            private void take() throws InterruptedException {
                if (isAborted) {
                    throw new InterruptedException();
                }
                next = rows.poll();
                if (next == null) {
                    next = rows.poll(Math.min(idle.get().toNanos(), CHECK.toNanos()), TimeUnit.NANOSECONDS);
                }
                if (next == END) {
                    next = null;
                    writers--;
                }
            }

            @Override
            @SuppressWarnings("unchecked")
            public Product2<K, C> next() {
                hasNext();
                Product2<K, C> pair = (Product2<K, C>) new Tuple2<>(partition, next);
                next = null;
                return pair;
            }
        };
    }
}
