package com.lsqlrunner.marks;

import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.common.TopicPartition;

/**
 * The place of the record that is being read, stored outside of the JVM. If the heap is too small for the record, the
 * JVM exits immediately, and the mark names the record.
 *
 * <p>While there is a mark, the JVM reads and processes only one record at a time, so no other record can be the cause.
 * One thread uses a mark.
 */
public abstract class ReadMark implements AutoCloseable {
    /** Used in place of the path of a file: marks are sent to the driver. */
    static final String AT_DRIVER = "";

    private static final ReentrantLock ONE_RECORD = new ReentrantLock(true);

    private boolean isSet;

    /**
     * Creates a mark.
     *
     * @param place the path of a file, which is created if it does not exist, or {@link #AT_DRIVER}
     * @param stream unique for each start of a query
     */
    public static ReadMark at(String place, String stream) {
        return place.equals(AT_DRIVER) ? new DriverMark(stream) : new FileMark(Path.of(place));
    }

    /** Marks the next record of a partition, from an offset. Waits until no other mark is set. */
    public final void set(TopicPartition partition, long offset) {
        if (!isSet) {
            ONE_RECORD.lock();
            isSet = true;
        }
        write(partition, offset);
    }

    /** Removes the mark, if it is set: the record is processed. */
    public final void clear() {
        if (isSet) {
            try {
                remove();
            } finally {
                isSet = false;
                ONE_RECORD.unlock();
            }
        }
    }

    abstract void write(TopicPartition partition, long offset);

    abstract void remove();

    @Override
    public void close() {
        clear();
    }
}
