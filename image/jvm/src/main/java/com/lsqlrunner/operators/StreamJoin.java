package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
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
 * The join of two streams: each row with the rows of the other side that have its id, and a time within a distance. A
 * row of a side that an outer join keeps is alone in the result if it has none, when no later row can match it. The
 * state contains the rows that later ones may match, in the {@link JoinSpans} of their id.
 *
 * <p>Input: {@code id} (BINARY, the join key), {@code ts} (LONG, milliseconds), {@code partition}, {@code offset},
 * {@code is_left} (BOOLEAN), {@code row} (BINARY, packed), and a column with a watermark, 1 ms later than {@code ts}.
 * Rows up to the watermark are left out. Output: {@code left}, {@code right} (BINARY, packed; one is null for a row
 * alone).
 */
@PythonEntry
public final class StreamJoin extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int IS_LEFT = 4;
    private static final int ROW = 5;

    /** About how many pages an id has: rows are kept for up to one page longer than necessary. */
    private static final long PAGES = 2;

    private static final long STEPS_OF_WITHIN = 64;
    private static final boolean[] SIDES = {true, false};

    private static final StructType PAIRS =
            new StructType().add("left", DataTypes.BinaryType).add("right", DataTypes.BinaryType);

    private final long withinMs;
    private final long spanMs;
    private final long pageMs;
    /** The time between two timers of rows without a match, so that a frequent key has few of them. */
    private final long stepMs;

    private final boolean keepsLeft;
    private final boolean keepsRight;
    private transient MapState<byte[], byte[]> rows;

    /** The lengths are part of the layout of the state, whose version is in {@code plan/fingerprint.py}. */
    private StreamJoin(long withinMs, long delayMs, boolean keepsLeft, boolean keepsRight) {
        this.withinMs = withinMs;
        this.keepsLeft = keepsLeft;
        this.keepsRight = keepsRight;
        this.spanMs = Math.min(4 * withinMs, (withinMs + delayMs) / 2) + 1;
        long spans = (withinMs + delayMs) / spanMs / PAGES;
        this.pageMs = spanMs * Math.max(1, Math.min(JoinSpans.MOST_SPANS_OF_PAGE, spans));
        this.stepMs = Math.max(1, withinMs / STEPS_OF_WITHIN);
    }

    /**
     * The joined pairs of rows.
     *
     * @param both the input
     * @param withinMs the largest distance of the times of a pair
     * @param delayMs how far the watermark is behind the newest time
     * @param keepsLeft whether rows of the left side without a match are in the result
     * @param keepsRight the same for the right side
     */
    public static Dataset<Row> of(
            Dataset<Row> both, long withinMs, long delayMs, boolean keepsLeft, boolean keepsRight) {
        return both.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(both.schema()))
                .transformWithState(
                        new StreamJoin(withinMs, delayMs, keepsLeft, keepsRight),
                        TimeMode.EventTime(),
                        OutputMode.Update(),
                        Encoders.row(PAIRS));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        rows = getHandle().getMapState("rows", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> both, TimerValues timers) {
        List<Row> lefts = new ArrayList<>();
        List<Row> rights = new ArrayList<>();
        while (both.hasNext()) {
            Row row = both.next();
            (row.getBoolean(IS_LEFT) ? lefts : rights).add(row);
        }
        List<Row> arrived = new ArrayList<>();
        ArrivalOrder.merge(ArrivalOrder.sorted(lefts), ArrivalOrder.sorted(rights), (row, isLeft) -> arrived.add(row));
        return CollectionConverters.asScala(new Pairs(arrived.iterator()));
    }

    /** Returns and removes the rows that no later row can match. A timer may be that of rows, of a page, or of both. */
    @Override
    public Iterator<Row> handleExpiredTimer(byte[] id, TimerValues timers, ExpiredTimerInfo expired) {
        JoinSpans spans = spans();
        List<Row> alone = new ArrayList<>();
        long now = expired.getExpiryTimeInMs();
        boolean isStep = Math.floorMod(now, stepMs) == 0;
        for (boolean isLeft : SIDES) {
            if (isStep && keeps(isLeft)) {
                spans.unmatched(isLeft, now - withinMs - stepMs, now - withinMs - 1)
                        .forEach(row -> alone.add(pair(isLeft, row, null)));
            }
        }
        long page = now - waitMs() - pageMs;
        if (Math.floorMod(page, pageMs) == 0) {
            spans.remove(page);
        }
        return CollectionConverters.asScala(alone.iterator());
    }

    /** Whether rows of a side without a match are in the result. */
    private boolean keeps(boolean ofLeft) {
        return ofLeft ? keepsLeft : keepsRight;
    }

    private static Row pair(boolean isLeft, Object row, Object other) {
        return isLeft ? RowFactory.create(row, other) : RowFactory.create(other, row);
    }

    /** How long the last row of a page is needed. */
    private long waitMs() {
        return keepsLeft || keepsRight ? withinMs + stepMs : withinMs;
    }

    /** The rows of the present id. */
    private JoinSpans spans() {
        return new JoinSpans(spanMs, pageMs, rows);
    }

    /** Writes what has changed. Pages and rows without a match have timers: after that, no later row matches them. */
    private void flush(JoinSpans spans) {
        spans.flush();
        Set<Long> timers = new HashSet<>();
        spans.newPages().forEach(page -> timers.add(page + pageMs + waitMs()));
        for (boolean isLeft : SIDES) {
            if (keeps(isLeft)) {
                spans.newUnmatched(isLeft).forEach(ts -> timers.add(stepAfter(ts)));
            }
        }
        timers.forEach(getHandle()::registerTimer);
    }

    /** The first step at which no later row can match one with this time. */
    private long stepAfter(long ts) {
        return (Math.floorDiv(ts + withinMs, stepMs) + 1) * stepMs;
    }

    /** The pairs of rows of an id, which are made as they are read: there may be many more of them than rows. */
    private final class Pairs implements java.util.Iterator<Row> {
        private final JoinSpans spans = spans();
        private final java.util.Iterator<Row> arrived;
        private Row row;
        private java.util.Iterator<byte[]> matches = Collections.emptyIterator();

        Pairs(java.util.Iterator<Row> arrived) {
            this.arrived = arrived;
        }

        @Override
        public boolean hasNext() {
            while (!matches.hasNext() && arrived.hasNext()) {
                row = arrived.next();
                long ts = row.getLong(ArrivalOrder.TS);
                boolean isLeft = row.getBoolean(IS_LEFT);
                matches = spans.match(!isLeft, ts - withinMs, ts + withinMs, keeps(!isLeft))
                        .iterator();
                spans.add(isLeft, ts, row.getAs(ROW), matches.hasNext());
                if (!arrived.hasNext()) {
                    flush(spans);
                }
            }
            return matches.hasNext();
        }

        @Override
        public Row next() {
            return pair(row.getBoolean(IS_LEFT), row.get(ROW), matches.next());
        }
    }
}
