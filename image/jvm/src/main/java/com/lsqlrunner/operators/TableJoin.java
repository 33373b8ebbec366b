package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
 * Joins two tables. For each pair of rows that a batch changes, the output contains the pair before and after the
 * batch. The state contains the rows of both tables.
 *
 * <p>A row that an outer join keeps is in a pair without a partner while the other side has no rows. When it gets or
 * loses its partner, the two pairs are one change if they have one id.
 *
 * <p>Input: {@code id} (BINARY, the join key), {@code ts} (LONG), {@code partition}, {@code offset}, {@code is_left}
 * (BOOLEAN), {@code row_id} (BINARY, identifies a row of that table within the id), {@code row} (BINARY, packed; null
 * deletes the row). Output: {@code id} (BINARY, identifies the pair), {@code ts}, {@code before_left},
 * {@code before_right}, {@code after_left}, {@code after_right} (BINARY, packed: the pair before and after; both null
 * if there was, or is, no pair).
 */
@PythonEntry
public final class TableJoin extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int IS_LEFT = 4;
    private static final int ROW_ID = 5;
    private static final int ROW = 6;

    private static final StructType PAIRS = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("ts", DataTypes.LongType)
            .add("before_left", DataTypes.BinaryType)
            .add("before_right", DataTypes.BinaryType)
            .add("after_left", DataTypes.BinaryType)
            .add("after_right", DataTypes.BinaryType);

    private static final int TS = 1;
    private static final int BEFORE = 2;
    private static final int AFTER = 4;

    /** What identifies a pair: the join key, or one of its rows, the other one if it is missing. */
    private enum PairId {
        JOIN_KEY,
        LEFT_ROW,
        RIGHT_ROW
    }

    private final boolean keepsLeft;
    private final boolean keepsRight;
    private final PairId pairId;
    private transient MapState<byte[], byte[]> lefts;
    private transient MapState<byte[], byte[]> rights;
    private transient boolean repeatsOpening;

    private TableJoin(boolean keepsLeft, boolean keepsRight, PairId pairId) {
        this.keepsLeft = keepsLeft;
        this.keepsRight = keepsRight;
        this.pairId = pairId;
    }

    /**
     * The changes of two joined tables.
     *
     * @param both the input
     * @param keepsLeft whether rows of the left table without a match are in the result
     * @param keepsRight the same for the right table
     * @param pairId the name of a {@link PairId}
     */
    public static Dataset<Row> of(Dataset<Row> both, boolean keepsLeft, boolean keepsRight, String pairId) {
        return both.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(both.schema()))
                .transformWithState(
                        new TableJoin(keepsLeft, keepsRight, PairId.valueOf(pairId)),
                        TimeMode.None(),
                        OutputMode.Update(),
                        Encoders.row(PAIRS));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        repeatsOpening = TaskBatch.repeatsOpening();
        lefts = getHandle().getMapState("lefts", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
        rights = getHandle().getMapState("rights", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> both, TimerValues timers) {
        List<Row> upserts = ArrivalOrder.sorted(both);
        Side left = new Side(lefts, upserts, true);
        Side right = new Side(rights, upserts, false);
        List<Row> changed = new ArrayList<>();
        // A row of one side forms a pair with each row of the other side, or a pair without a partner if the other side
        // has no rows.
        for (ByteBuffer leftKey : right.isUpdated() ? left.rowKeys() : left.updated()) {
            for (ByteBuffer rightKey : left.isUpdated(leftKey) ? right.rowKeys() : right.updated()) {
                addPair(changed, pairId(id, leftKey, rightKey), left, leftKey, right, rightKey);
            }
            if (keepsLeft) {
                addUnmatched(changed, pairId(id, leftKey, null), leftKey, left, right, true);
            }
        }
        if (keepsRight) {
            for (ByteBuffer rightKey : left.isUpdated() ? right.rowKeys() : right.updated()) {
                addUnmatched(changed, pairId(id, null, rightKey), rightKey, right, left, false);
            }
        }
        left.flush();
        right.flush();
        boolean isOuter = keepsLeft || keepsRight;
        return CollectionConverters.asScala((isOuter ? withOneChange(changed) : changed).iterator());
    }

    private byte[] pairId(byte[] joinKey, ByteBuffer leftKey, ByteBuffer rightKey) {
        if (pairId == PairId.JOIN_KEY) {
            return joinKey;
        }
        boolean isLeft = rightKey == null || (leftKey != null && pairId == PairId.LEFT_ROW);
        return (isLeft ? leftKey : rightKey).array();
    }

    /** The changes with one for each id: one pair before, another one after. */
    private static Collection<Row> withOneChange(List<Row> changes) {
        Map<ByteBuffer, Row> byId = new LinkedHashMap<>();
        for (Row change : changes) {
            byId.merge(ByteBuffer.wrap(change.getAs(0)), change, (first, second) -> {
                Row before = hasPair(first, BEFORE) ? first : second;
                Row after = hasPair(first, AFTER) ? first : second;
                return RowFactory.create(
                        first.get(0),
                        Math.max(first.getLong(TS), second.getLong(TS)),
                        before.get(BEFORE),
                        before.get(BEFORE + 1),
                        after.get(AFTER),
                        after.get(AFTER + 1));
            });
        }
        return byId.values();
    }

    private static boolean hasPair(Row change, int side) {
        return !change.isNullAt(side) || !change.isNullAt(side + 1);
    }

    private void addUnmatched(
            List<Row> changed, byte[] id, ByteBuffer rowKey, Side side, Side otherSide, boolean isLeft) {
        byte[] had = otherSide.wasEmpty() ? side.before(rowKey) : null;
        byte[] has = otherSide.isEmpty() ? side.after(rowKey) : null;
        if (repeatsOpening ? had != null || has != null : !Arrays.equals(had, has)) {
            long ts = Math.max(side.ts(rowKey), otherSide.ts());
            changed.add(
                    isLeft
                            ? RowFactory.create(id, ts, had, null, has, null)
                            : RowFactory.create(id, ts, null, had, null, has));
        }
    }

    private void addPair(List<Row> changed, byte[] id, Side left, ByteBuffer leftKey, Side right, ByteBuffer rightKey) {
        boolean had = left.before(leftKey) != null && right.before(rightKey) != null;
        boolean has = left.after(leftKey) != null && right.after(rightKey) != null;
        boolean isSame = !repeatsOpening && !left.isChanged(leftKey) && !right.isChanged(rightKey);
        if (had == has && (!had || isSame)) {
            return;
        }
        changed.add(RowFactory.create(
                id,
                Math.max(left.ts(leftKey), right.ts(rightKey)),
                had ? left.before(leftKey) : null,
                had ? right.before(rightKey) : null,
                has ? left.after(leftKey) : null,
                has ? right.after(rightKey) : null));
    }

    /** The rows of an id in one table, before and after a batch. */
    private static final class Side {
        private final Map<ByteBuffer, Long> updated = new HashMap<>();
        private final Map<ByteBuffer, byte[]> before;
        private final CachedState after;

        Side(MapState<byte[], byte[]> state, List<Row> upserts, boolean isLeft) {
            after = new CachedState(state);
            before = new HashMap<>(after.byRowKey());
            for (Row upsert : upserts) {
                if (upsert.getBoolean(IS_LEFT) == isLeft) {
                    byte[] rowKey = upsert.getAs(ROW_ID);
                    after.put(rowKey, upsert.<byte[]>getAs(ROW));
                    updated.merge(ByteBuffer.wrap(rowKey), upsert.getLong(ArrivalOrder.TS), Math::max);
                }
            }
        }

        Set<ByteBuffer> updated() {
            return updated.keySet();
        }

        boolean isUpdated() {
            return !updated.isEmpty();
        }

        boolean isUpdated(ByteBuffer rowKey) {
            return updated.containsKey(rowKey);
        }

        /** The largest timestamp of a row in the batch; the smallest long for a row that is not in the batch. */
        long ts(ByteBuffer rowKey) {
            return updated.getOrDefault(rowKey, Long.MIN_VALUE);
        }

        /** The largest timestamp of all rows in the batch. */
        long ts() {
            return updated.values().stream().mapToLong(Long::longValue).max().orElse(Long.MIN_VALUE);
        }

        boolean isChanged(ByteBuffer rowKey) {
            return !Arrays.equals(before(rowKey), after(rowKey));
        }

        byte[] before(ByteBuffer rowKey) {
            return before.get(rowKey);
        }

        byte[] after(ByteBuffer rowKey) {
            return after.byRowKey().get(rowKey);
        }

        boolean wasEmpty() {
            return before.isEmpty();
        }

        boolean isEmpty() {
            return after.isEmpty();
        }

        /** The keys of all rows before and after the batch. */
        Collection<ByteBuffer> rowKeys() {
            Set<ByteBuffer> all = new HashSet<>(before.keySet());
            all.addAll(after.byRowKey().keySet());
            return all;
        }

        void flush() {
            after.flush();
        }
    }
}
