package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
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
 * Joins two tables. For each pair of rows that a batch changes, the output contains the pair before and after the
 * batch. The state contains the rows of both tables.
 *
 * <p>An outer join has a pair without a partner for a row of a side that it keeps, while the other side has no rows.
 * Such a row has one partner at most: it is in one pair before and after the batch, with another partner or with none.
 *
 * <p>Input: {@code id} (BINARY, the join key), {@code ts} (LONG), {@code partition}, {@code offset}, {@code is_left}
 * (BOOLEAN), {@code row_id} (BINARY, identifies a row of that table within the id), {@code row} (BINARY, packed; null
 * deletes the row). Output: {@code id}, {@code left_row_id}, {@code right_row_id} (BINARY, null if the pair had and has
 * no such row), {@code ts}, {@code before_left}, {@code before_right}, {@code after_left}, {@code after_right} (BINARY,
 * packed: the pair before and after; both null if there was, or is, no pair).
 */
@PythonEntry
public final class TableJoin extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int IS_LEFT = 4;
    private static final int ROW_ID = 5;
    private static final int ROW = 6;

    private static final StructType PAIRS = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("left_row_id", DataTypes.BinaryType)
            .add("right_row_id", DataTypes.BinaryType)
            .add("ts", DataTypes.LongType)
            .add("before_left", DataTypes.BinaryType)
            .add("before_right", DataTypes.BinaryType)
            .add("after_left", DataTypes.BinaryType)
            .add("after_right", DataTypes.BinaryType);

    private final boolean keepsLeft;
    private final boolean keepsRight;
    private transient MapState<byte[], byte[]> lefts;
    private transient MapState<byte[], byte[]> rights;
    private transient boolean repeatsOpening;

    private TableJoin(boolean keepsLeft, boolean keepsRight) {
        this.keepsLeft = keepsLeft;
        this.keepsRight = keepsRight;
    }

    /**
     * The changes of two joined tables.
     *
     * @param both the input
     * @param keepsLeft whether rows of the left table without a match are in the result
     * @param keepsRight the same for the right table
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
        for (ByteBuffer leftKey : right.isUpdated() ? left.rowKeys(keepsRight) : left.updated()) {
            for (ByteBuffer rightKey : left.isUpdated(leftKey) ? right.rowKeys(keepsLeft) : right.updated()) {
                addPair(changed, id, left, leftKey, right, rightKey);
            }
        }
        left.flush();
        right.flush();
        return CollectionConverters.asScala(changed.iterator());
    }

    private void addPair(List<Row> changed, byte[] id, Side left, ByteBuffer leftKey, Side right, ByteBuffer rightKey) {
        byte[] leftBefore = left.before(leftKey);
        byte[] rightBefore = right.before(rightKey);
        byte[] leftAfter = left.after(leftKey);
        byte[] rightAfter = right.after(rightKey);
        boolean had = isResult(leftBefore, right.wasEmpty(), rightBefore, left.wasEmpty());
        boolean has = isResult(leftAfter, right.isEmpty(), rightAfter, left.isEmpty());
        boolean isSame =
                !repeatsOpening && Arrays.equals(leftBefore, leftAfter) && Arrays.equals(rightBefore, rightAfter);
        if (had == has && (!had || isSame)) {
            return;
        }
        changed.add(RowFactory.create(
                id,
                leftKey == null ? null : leftKey.array(),
                rightKey == null ? null : rightKey.array(),
                Math.max(left.ts(leftKey), right.ts(rightKey)),
                had ? leftBefore : null,
                had ? rightBefore : null,
                has ? leftAfter : null,
                has ? rightAfter : null));
    }

    private boolean isResult(byte[] left, boolean isRightEmpty, byte[] right, boolean isLeftEmpty) {
        return left != null && right != null
                || keepsLeft && left != null && isRightEmpty
                || keepsRight && right != null && isLeftEmpty;
    }

    /** The rows of an id in one table, before and after a batch. A null key is that of no row. */
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

        /**
         * The largest timestamp of a row in the batch, of all rows for a null key; the smallest long if none is in the
         * batch.
         */
        long ts(ByteBuffer rowKey) {
            return rowKey == null
                    ? updated.values().stream().mapToLong(Long::longValue).max().orElse(Long.MIN_VALUE)
                    : updated.getOrDefault(rowKey, Long.MIN_VALUE);
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

        /** The keys of all rows before and after the batch. If there are none, a null key if {@code orNull}. */
        Collection<ByteBuffer> rowKeys(boolean orNull) {
            Set<ByteBuffer> all = new HashSet<>(before.keySet());
            all.addAll(after.byRowKey().keySet());
            return all.isEmpty() && orNull ? Collections.singleton(null) : all;
        }

        void flush() {
            after.flush();
        }
    }
}
