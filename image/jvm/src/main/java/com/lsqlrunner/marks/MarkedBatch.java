package com.lsqlrunner.marks;

import org.apache.spark.sql.connector.read.streaming.Offset;

/**
 * The batch of a stream that is read with a {@link ReadMark}: the first one, if the JVM ran out of memory before. Until
 * this batch is planned, no other code may read a record of the stream.
 */
public final class MarkedBatch {
    private final String place;
    private boolean isPending;
    private Offset start;

    /** @param place of the marks, as in {@link ReadMark#at}; null if no batch is read with them */
    public MarkedBatch(String place) {
        this.place = place;
        this.isPending = place != null;
    }

    /** Whether the first batch is not planned yet. */
    public boolean isPending() {
        return isPending;
    }

    /**
     * Records that a batch is planned. If the first batch has no records of the stream, no batch is read with marks.
     */
    public void planned(Offset from, Offset until) {
        isPending &= !from.equals(until);
    }

    /** The place for the marks of a batch with records; null if it is read without marks. Spark plans a batch twice. */
    public String placeOf(Offset from) {
        if (isPending) {
            isPending = false;
            start = from;
        }
        return from.equals(start) ? place : null;
    }
}
