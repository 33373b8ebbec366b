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
 * The state of each group of one aggregate: an empty one, adding a value, merging, the result, and its bytes.
 *
 * <p>The bytes are a version, the number of entries, and for each entry what the function needs: place, value, count.
 * Spark writes them after each step of a batch, merges them, and keeps them on disk.
 */
final class GroupStates {
    private static final int VERSION = 1;
    private static final int VERSION_WITH_COUNTS = 2;

    /** A group is one row of the state store, read and written as a whole with every batch that changes it. */
    private static final int LARGEST_STATE_BYTES = 16 << 20;

    private final KeepFunction kind;
    private final int limit;
    private final DataType type;
    private final int places;
    private final boolean retracts;
    private final ValueCodec codec;
    private final Comparator<Object> values;

    /**
     * @param type of the values.
     * @param values their order; null for a type that has none.
     * @param places how many numbers give a record's place in the order; 0 where the order does not count.
     * @param retracts whether values are also taken out.
     */
    GroupStates(KeepFunction kind, int limit, DataType type, Comparator<Object> values, int places, boolean retracts) {
        this.kind = kind;
        this.limit = limit;
        this.type = type;
        this.places = places;
        this.retracts = retracts;
        this.codec = ValueCodec.of(type);
        this.values = values;
    }

    KeptEntries start() {
        if (!retracts) {
            return kept();
        }
        Comparator<Object> order = values == null ? this::compareWritten : values;
        Comparator<Entry> apart = Entry::compareByPlace;
        apart = apart.thenComparing((one, other) -> order.compare(one.value, other.value));
        return new ValueCounts(apart, this::kept, kind.counts(), limit);
    }

    private KeptEntries kept() {
        return kind.start(values, this::compareWritten, limit);
    }

    /** An order in which different values of any type differ. */
    private int compareWritten(Object one, Object other) {
        return Arrays.compareUnsigned(written(one), written(other));
    }

    private byte[] written(Object one) {
        StateBytes bytes = StateBytes.empty();
        codec.write(one, bytes);
        return bytes.toBytes();
    }

    /** Adds a value that is not null or, where {@code count} is -1, removes it. The caller may reuse the arguments. */
    void add(KeptEntries kept, Object value, long[] place, long count) {
        kept.offer(new Entry(place, normal(value), count), true);
    }

    /** Floating point has several zeros and NaNs that are equal. Which one is kept must not depend on the order. */
    private Object normal(Object value) {
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

    /** One value or null, or an array. */
    Object result(KeptEntries kept) {
        Collection<Entry> found = kept.result();
        if (kind.single) {
            return found.isEmpty() ? null : found.iterator().next().value;
        }
        return new GenericArrayData(found.stream().map(entry -> entry.value).toArray());
    }

    private int version() {
        return retracts ? VERSION_WITH_COUNTS : VERSION;
    }

    private boolean writesCounts() {
        return retracts || kind.counts();
    }

    byte[] write(KeptEntries kept) {
        Collection<Entry> entries = kept.entries();
        StateBytes to = StateBytes.empty();
        to.writeByte(version());
        to.writeLong(entries.size());
        for (Entry entry : entries) {
            for (int i = 0; i < places; i++) {
                to.writeLong(entry.place[i]);
            }
            codec.write(entry.value, to);
            if (writesCounts()) {
                to.writeLong(entry.count);
            }
            if (to.size() > LARGEST_STATE_BYTES) {
                int limitMib = LARGEST_STATE_BYTES >> 20;
                throw new LsqlException(
                        Condition.LSQL_GROUP_TOO_LARGE,
                        Map.of("aggregate", kind.name(), "limit_mib", String.valueOf(limitMib)));
            }
        }
        return to.toBytes();
    }

    KeptEntries read(byte[] bytes) {
        StateBytes from = StateBytes.of(bytes);
        int version = from.readByte();
        if (version != version()) {
            throw new IllegalStateException("a state of " + kind + " has the unknown version " + version);
        }
        KeptEntries kept = start();
        for (long left = from.readLong(); left > 0; left--) {
            long[] place = new long[places];
            for (int i = 0; i < places; i++) {
                place[i] = from.readLong();
            }
            Object value = codec.read(from);
            kept.offer(new Entry(place, value, writesCounts() ? from.readLong() : 1), false);
        }
        return kept;
    }
}
