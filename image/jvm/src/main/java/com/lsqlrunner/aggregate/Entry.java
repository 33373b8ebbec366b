package com.lsqlrunner.aggregate;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;

/** A value of a group, its sort key in the order of the records, and how often it occurs. */
final class Entry {
    private static final long[] NO_SORT_KEY = {};

    /** Event time in milliseconds, partition, offset, indexes in arrays; empty if the aggregate ignores the order. */
    final long[] sortKey;

    final Object value;
    long count;

    Entry(long[] sortKey, Object value, long count) {
        this.sortKey = sortKey == null ? NO_SORT_KEY : sortKey;
        this.value = value;
        this.count = count;
    }

    /** A deep copy: Spark reuses the memory of an expression's value for the next row. */
    Entry copy() {
        return new Entry(sortKey.clone(), InternalRow.copyValue(value), count);
    }

    static int compareBySortKey(Entry left, Entry right) {
        return Arrays.compare(left.sortKey, right.sortKey);
    }
}
