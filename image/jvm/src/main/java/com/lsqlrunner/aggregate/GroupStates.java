package com.lsqlrunner.aggregate;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;

/**
 * The states of the groups of one aggregate: creates them, adds values, merges them, computes their results, and
 * converts them to bytes and back.
 *
 * <p>The bytes are a version, the number of entries, and for each entry its sort key, value and count, as far as the
 * function needs them. Spark writes them after each step of a batch, merges them and stores them on disk.
 */
final class GroupStates {
    private static final int VERSION = 1;
    private static final int VERSION_WITH_COUNTS = 2;

    /** A group is one row of the state store. Each batch that changes the group reads and writes the whole row. */
    private static final int MAX_STATE_BYTES = 16 << 20;

    private final KeepFunction function;
    private final int limit;
    private final DataType type;
    private final int sortKeySize;
    private final boolean retracts;
    private final ValueCodec codec;
    private final Comparator<Object> valueOrder;

    /**
     * @param type of the values
     * @param valueOrder the order of the values; null for a type without an order
     * @param sortKeySize the number of longs in a record's sort key; 0 if the function ignores the order
     * @param retracts whether values are also retracted
     */
    GroupStates(
            KeepFunction function,
            int limit,
            DataType type,
            Comparator<Object> valueOrder,
            int sortKeySize,
            boolean retracts) {
        this.function = function;
        this.limit = limit;
        this.type = type;
        this.sortKeySize = sortKeySize;
        this.retracts = retracts;
        this.codec = ValueCodec.of(type);
        this.valueOrder = valueOrder;
    }

    KeptEntries empty() {
        if (!retracts) {
            return withoutRetractions();
        }
        Comparator<Object> order = valueOrder == null ? this::compareEncoded : valueOrder;
        Comparator<Entry> distinct = Entry::compareBySortKey;
        distinct = distinct.thenComparing((left, right) -> order.compare(left.value, right.value));
        return new ValueCounts(distinct, this::withoutRetractions, function.countsValues(), limit);
    }

    private KeptEntries withoutRetractions() {
        return function.empty(valueOrder, this::compareEncoded, limit);
    }

    /** A total order of the values of any type: only equal values compare as equal. */
    private int compareEncoded(Object left, Object right) {
        return Arrays.compareUnsigned(encoded(left), encoded(right));
    }

    private byte[] encoded(Object value) {
        StateBytes bytes = StateBytes.empty();
        codec.write(value, bytes);
        return bytes.toBytes();
    }

    /** Adds a value that is not null, or retracts it if {@code count} is -1. The caller may reuse the arguments. */
    void add(KeptEntries kept, Object value, long[] sortKey, long count) {
        kept.offer(new Entry(sortKey, normalized(value), count), true);
    }

    /**
     * Several zeros and NaNs of floating point are equal. Which one is stored must not depend on the order of the
     * records.
     */
    private Object normalized(Object value) {
        if (type instanceof DoubleType) {
            double number = (Double) value;
            return number == 0 ? (Double) 0.0 : Double.isNaN(number) ? (Double) Double.NaN : value;
        }
        if (type instanceof FloatType) {
            float number = (Float) value;
            return number == 0 ? (Float) 0.0f : Float.isNaN(number) ? (Float) Float.NaN : value;
        }
        return value;
    }

    void merge(KeptEntries kept, KeptEntries other) {
        other.entries().forEach(entry -> kept.offer(entry, false));
    }

    /** A value or null if the function has a single result, else an array. */
    Object result(KeptEntries kept) {
        Collection<Entry> entries = kept.result();
        if (function.isSingle) {
            return entries.isEmpty() ? null : entries.iterator().next().value;
        }
        return new GenericArrayData(entries.stream().map(entry -> entry.value).toArray());
    }

    private int version() {
        return retracts ? VERSION_WITH_COUNTS : VERSION;
    }

    private boolean writesCounts() {
        return retracts || function.countsValues();
    }

    byte[] write(KeptEntries kept) {
        Collection<Entry> entries = kept.entries();
        StateBytes to = StateBytes.empty();
        to.writeByte(version());
        to.writeLong(entries.size());
        for (Entry entry : entries) {
            for (int i = 0; i < sortKeySize; i++) {
                to.writeLong(entry.sortKey[i]);
            }
            codec.write(entry.value, to);
            if (writesCounts()) {
                to.writeLong(entry.count);
            }
            if (to.size() > MAX_STATE_BYTES) {
                int limitMib = MAX_STATE_BYTES >> 20;
                throw new LsqlException(
                        Condition.LSQL_GROUP_TOO_LARGE,
                        Map.of("aggregate", function.name(), "limit_mib", String.valueOf(limitMib)));
            }
        }
        return to.toBytes();
    }

    KeptEntries read(byte[] bytes) {
        StateBytes from = StateBytes.of(bytes);
        int version = from.readByte();
        if (version != version()) {
            throw new IllegalStateException("a state of " + function + " has the unknown version " + version);
        }
        KeptEntries kept = empty();
        for (long left = from.readLong(); left > 0; left--) {
            long[] sortKey = new long[sortKeySize];
            for (int i = 0; i < sortKeySize; i++) {
                sortKey[i] = from.readLong();
            }
            Object value = codec.read(from);
            kept.offer(new Entry(sortKey, value, writesCounts() ? from.readLong() : 1), false);
        }
        return kept;
    }
}
