package com.lsqlrunner.state;

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
 * Makes one change of several {@link Changes} of the same row that come from different tasks, in no known order. A row
 * that moves is removed in one task and added in another; a version that one task adds and another removes is left out.
 * No state.
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
        Map<ByteBuffer, Integer> balance = new HashMap<>();
        Row last = null;
        while (changes.hasNext()) {
            Row change = changes.next();
            count(balance, change.getAs(Changes.BEFORE), -1);
            count(balance, change.getAs(Changes.AFTER), 1);
            last = last == null || change.getLong(ArrivalOrder.TS) > last.getLong(ArrivalOrder.TS) ? change : last;
        }
        byte[] before = one(balance, -1);
        byte[] after = one(balance, 1);
        List<Row> settled = new ArrayList<>(1);
        if (before != null || after != null) {
            settled.add(Changes.of(id, last, before, after));
        }
        return CollectionConverters.asScala(settled.iterator());
    }

    private static void count(Map<ByteBuffer, Integer> balance, byte[] row, int change) {
        if (row != null) {
            balance.merge(ByteBuffer.wrap(row), change, Integer::sum);
        }
    }

    private static byte[] one(Map<ByteBuffer, Integer> balance, int wanted) {
        byte[] found = null;
        for (Map.Entry<ByteBuffer, Integer> row : balance.entrySet()) {
            if (Integer.signum(row.getValue()) == wanted) {
                if (found != null || row.getValue() != wanted) {
                    throw new IllegalStateException("a row of a table is there more than once");
                }
                found = row.getKey().array();
            }
        }
        return found;
    }
}
