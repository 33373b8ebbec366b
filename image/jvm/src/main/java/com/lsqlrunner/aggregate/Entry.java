package com.lsqlrunner.aggregate;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;

/** A value of a group, its position in the order of the records, and how often it occurs. */
final class Entry {
    private static final long[] NO_POSITION = {};

    /** Event time in milliseconds, partition, offset, indexes in arrays; empty if the aggregate ignores the order. */
    final long[] position;

    final Object value;
    long count;

    Entry(long[] position, Object value, long count) {
        this.position = position == null ? NO_POSITION : position;
        this.value = value;
        this.count = count;
    }

    /** A deep copy: Spark reuses the memory of an expression's value for the next row. */
    Entry copy() {
        return new Entry(position.clone(), InternalRow.copyValue(value), count);
    }

    static int compareByPosition(Entry left, Entry right) {
        return Arrays.compare(left.position, right.position);
    }
}
