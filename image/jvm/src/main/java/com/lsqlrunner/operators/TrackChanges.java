package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Converts the upserts of a table to its {@link Changes}. The state contains the newest row of every id.
 *
 * <p>Input: {@code id} (BINARY), {@code ts} (LONG), {@code partition}, {@code offset}, {@code row} (BINARY, packed;
 * null deletes the row). An upsert without a difference, and the deletion of a missing row, are not changes.
 */
@PythonEntry
public final class TrackChanges extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int ROW = 4;

    private final boolean isEvery;
    private final boolean isGrouped;
    private transient ValueState<byte[]> newest;
    private transient boolean repeatsOpening;

    private TrackChanges(boolean isEvery, boolean isGrouped) {
        this.isEvery = isEvery;
        this.isGrouped = isGrouped;
    }

    /**
     * The changes of a table.
     *
     * @param isEvery whether every upsert is a change, instead of one change for each id in a batch
     * @param isGrouped whether the changes are added to groups, which need those of a row in between if results of them
     *     may have been written ({@link TaskBatch#repeatsOpening})
     */
    public static Dataset<Row> of(Dataset<Row> upserts, boolean isEvery, boolean isGrouped) {
        return upserts.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(upserts.schema()))
                .transformWithState(
                        new TrackChanges(isEvery, isGrouped),
                        TimeMode.None(),
                        OutputMode.Update(),
                        Encoders.row(Changes.SCHEMA));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        repeatsOpening = TaskBatch.repeatsOpening();
        newest = getHandle().getValueState("newest", Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> upserts, TimerValues timers) {
        byte[] first = newest.get();
        byte[] before = first;
        boolean hasEvery = isEvery || (isGrouped && repeatsOpening);
        List<Row> changes = new ArrayList<>();
        Row last = null;
        for (Row upsert : ArrivalOrder.sorted(upserts)) {
            byte[] after = upsert.getAs(ROW);
            if (hasEvery && !Arrays.equals(before, after)) {
                changes.add(Changes.of(id, upsert, before, after));
            }
            before = after;
            last = upsert;
        }
        if (!Arrays.equals(first, before)) {
            if (before == null) {
                newest.clear();
            } else {
                newest.update(before);
            }
        }
        boolean isRepeated = repeatsOpening && before != null;
        if (!hasEvery && (isRepeated || !Arrays.equals(first, before))) {
            changes.add(Changes.of(id, last, first, before));
        }
        return CollectionConverters.asScala(changes.iterator());
    }
}
