package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Combines several {@link Changes} of the same row, which come from different tasks in no known order, into one. A row
 * that moves to another key is removed in one task and added in another. A version of the row that one task adds and
 * another removes is left out. The operator has no state.
 */
@PythonEntry
public final class ConsolidateChanges extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;

    /** At most one change for each id and batch. */
    public static Dataset<Row> of(Dataset<Row> changes) {
        return changes.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(Changes.SCHEMA))
                .transformWithState(
                        new ConsolidateChanges(), TimeMode.None(), OutputMode.Update(), Encoders.row(Changes.SCHEMA));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {}

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> changes, TimerValues timers) {
        Map<ByteBuffer, Integer> counts = new HashMap<>();
        Row last = null;
        while (changes.hasNext()) {
            Row change = changes.next();
            count(counts, change.getAs(Changes.BEFORE), -1);
            count(counts, change.getAs(Changes.AFTER), 1);
            last = last == null || change.getLong(ArrivalOrder.TS) > last.getLong(ArrivalOrder.TS) ? change : last;
        }
        byte[] before = rowOf(counts, -1);
        byte[] after = rowOf(counts, 1);
        List<Row> combined = new ArrayList<>(1);
        if (before != null || after != null) {
            combined.add(Changes.of(id, last, before, after));
        }
        return CollectionConverters.asScala(combined.iterator());
    }

    private static void count(Map<ByteBuffer, Integer> counts, byte[] row, int change) {
        if (row != null) {
            counts.merge(ByteBuffer.wrap(row), change, Integer::sum);
        }
    }

    /** The row with a count; null if there is none. */
    private static byte[] rowOf(Map<ByteBuffer, Integer> counts, int count) {
        byte[] packed = null;
        for (Map.Entry<ByteBuffer, Integer> row : counts.entrySet()) {
            if (Integer.signum(row.getValue()) == count) {
                if (packed != null || row.getValue() != count) {
                    throw new IllegalStateException("a table has several rows with the same id");
                }
                packed = row.getKey().array();
            }
        }
        return packed;
    }
}
