package com.lsqlrunner.aggregate;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;

/** A value of a group, its place in the order of the records, and how often it occurs. */
final class Entry {
    private static final long[] NOWHERE = {};

    /** Event time in milliseconds, partition, offset, places in arrays; empty where the aggregate does not use it. */
    final long[] place;

    final Object value;
    long count;

    Entry(long[] place, Object value, long count) {
        this.place = place == null ? NOWHERE : place;
        this.value = value;
        this.count = count;
    }

    /** A copy that stays valid: the value of an expression is valid only as long as its row. */
    Entry copy() {
        return new Entry(place.clone(), InternalRow.copyValue(value), count);
    }

    static int compareByPlace(Entry one, Entry other) {
        return Arrays.compare(one.place, other.place);
    }
}
