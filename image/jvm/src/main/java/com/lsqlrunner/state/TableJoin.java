package com.lsqlrunner.state;

import com.lsqlrunner.PythonEntry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Two tables joined: for each pair of their rows that a batch has touched, what it was and what it is. State: the rows
 * of both.
 *
 * <p>In: {@code id} (BINARY, what is joined by), {@code ts} (LONG), {@code partition}, {@code offset}, {@code is_left}
 * (BOOLEAN), {@code part} (BINARY, which of that table's rows), {@code row} (BINARY, packed; null deletes). Out:
 * {@code left_part}, {@code right_part} (BINARY, null for the side that an outer join has no row of), {@code ts},
 * {@code had_left}, {@code had_right}, {@code has_left}, {@code has_right} (BINARY, packed: the pair before and after;
 * both null where there was, or is, none).
 */
@PythonEntry
public final class TableJoin extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int IS_LEFT = 4;
    private static final int PART = 5;
    private static final int ROW = 6;

    private static final StructType PAIRS = new StructType()
            .add("left_part", DataTypes.BinaryType)
            .add("right_part", DataTypes.BinaryType)
            .add("ts", DataTypes.LongType)
            .add("had_left", DataTypes.BinaryType)
            .add("had_right", DataTypes.BinaryType)
            .add("has_left", DataTypes.BinaryType)
            .add("has_right", DataTypes.BinaryType);

    private final boolean keepsLeft;
    private final boolean keepsRight;
    private transient MapState<byte[], byte[]> lefts;
    private transient MapState<byte[], byte[]> rights;

    private TableJoin(boolean keepsLeft, boolean keepsRight) {
        this.keepsLeft = keepsLeft;
        this.keepsRight = keepsRight;
    }

    /**
     * The changes of two joined tables.
     *
     * @param keepsLeft rows of the left table stay that none of the right one fits
     * @param keepsRight the same of the right table
     */
    public static Dataset<Row> of(Dataset<Row> both, boolean keepsLeft, boolean keepsRight) {
        return both.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(both.schema()))
                .transformWithState(
                        new TableJoin(keepsLeft, keepsRight),
                        TimeMode.None(),
                        OutputMode.Update(),
                        Encoders.row(PAIRS));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        lefts = getHandle().getMapState("lefts", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
        rights = getHandle().getMapState("rights", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> both, TimerValues timers) {
        List<Row> upserts = ArrivalOrder.sorted(both);
        Side left = new Side(lefts, upserts, true);
        Side right = new Side(rights, upserts, false);
        List<Row> changed = new ArrayList<>();
        // A row of one side is in as many pairs as the other side has rows, and in one with nothing where that has
        // none.
        for (ByteBuffer one : right.isTouched() ? left.parts() : left.touched()) {
            for (ByteBuffer other : left.isTouched(one) ? right.parts() : right.touched()) {
                addPair(changed, left, one, right, other);
            }
            if (keepsLeft) {
                addAlone(changed, one, left, right, true);
            }
        }
        if (keepsRight) {
            for (ByteBuffer other : left.isTouched() ? right.parts() : right.touched()) {
                addAlone(changed, other, right, left, false);
            }
        }
        left.keep();
        right.keep();
        return CollectionConverters.asScala(changed.iterator());
    }

    private static void addAlone(List<Row> changed, ByteBuffer part, Side own, Side other, boolean isLeft) {
        byte[] had = other.wasEmpty() ? own.before(part) : null;
        byte[] has = other.isEmpty() ? own.after(part) : null;
        if (!Arrays.equals(had, has)) {
            byte[] name = part.array();
            long ts = Math.max(own.ts(part), other.ts());
            changed.add(
                    isLeft
                            ? RowFactory.create(name, null, ts, had, null, has, null)
                            : RowFactory.create(null, name, ts, null, had, null, has));
        }
    }

    private static void addPair(List<Row> changed, Side left, ByteBuffer one, Side right, ByteBuffer other) {
        boolean had = left.before(one) != null && right.before(other) != null;
        boolean has = left.after(one) != null && right.after(other) != null;
        boolean isSame = !left.isChanged(one) && !right.isChanged(other);
        if (had == has && (!had || isSame)) {
            return;
        }
        changed.add(RowFactory.create(
                one.array(),
                other.array(),
                Math.max(left.ts(one), right.ts(other)),
                had ? left.before(one) : null,
                had ? right.before(other) : null,
                has ? left.after(one) : null,
                has ? right.after(other) : null));
    }

    /** One table's rows of an id, before a batch and after it. */
    private static final class Side {
        private final Map<ByteBuffer, Long> touched = new HashMap<>();
        private final Map<ByteBuffer, byte[]> before;
        private final CachedState after;

        Side(MapState<byte[], byte[]> state, List<Row> upserts, boolean isLeft) {
            after = new CachedState(state);
            before = new HashMap<>(after.byPart());
            for (Row upsert : upserts) {
                if (upsert.getBoolean(IS_LEFT) == isLeft) {
                    byte[] part = upsert.getAs(PART);
                    after.put(part, upsert.<byte[]>getAs(ROW));
                    touched.merge(ByteBuffer.wrap(part), upsert.getLong(ArrivalOrder.TS), Math::max);
                }
            }
        }

        Set<ByteBuffer> touched() {
            return touched.keySet();
        }

        boolean isTouched() {
            return !touched.isEmpty();
        }

        boolean isTouched(ByteBuffer part) {
            return touched.containsKey(part);
        }

        /** The largest time of what the batch says of a row; of nothing the smallest there is. */
        long ts(ByteBuffer part) {
            return touched.getOrDefault(part, Long.MIN_VALUE);
        }

        /** The largest time of what the batch says of any row. */
        long ts() {
            return touched.values().stream().mapToLong(Long::longValue).max().orElse(Long.MIN_VALUE);
        }

        boolean isChanged(ByteBuffer part) {
            return !Arrays.equals(before(part), after(part));
        }

        byte[] before(ByteBuffer part) {
            return before.get(part);
        }

        byte[] after(ByteBuffer part) {
            return after.byPart().get(part);
        }

        boolean wasEmpty() {
            return before.isEmpty();
        }

        boolean isEmpty() {
            return after.isEmpty();
        }

        /** Every row that there was or is. */
        Collection<ByteBuffer> parts() {
            Set<ByteBuffer> all = new HashSet<>(before.keySet());
            all.addAll(after.byPart().keySet());
            return all;
        }

        void keep() {
            after.keep();
        }
    }
}
