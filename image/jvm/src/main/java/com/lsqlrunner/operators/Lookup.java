package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.util.ArrayList;
import java.util.List;
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
 * Joins a stream with a table: each stream record with the rows that the table has for its key at that moment. The
 * state contains the rows of the table.
 *
 * <p>Input: {@code id} (BINARY, the join key), {@code ts} (LONG), {@code partition}, {@code offset}, {@code is_table}
 * (BOOLEAN), {@code row_id} (BINARY, identifies a row of the table within the id; null for a stream), {@code row}
 * (BINARY, packed; null deletes the row of the table). Output: {@code id}, the position of the stream's record
 * ({@code partition}, {@code offset}), {@code streamed}, {@code found} (BINARY, packed; null in an outer join without a
 * match).
 */
@PythonEntry
public final class Lookup extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int IS_TABLE = 4;
    private static final int ROW_ID = 5;
    private static final int ROW = 6;

    private static final StructType JOINED = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("partition", DataTypes.IntegerType)
            .add("offset", DataTypes.LongType)
            .add("streamed", DataTypes.BinaryType)
            .add("found", DataTypes.BinaryType);

    private final boolean isOuter;
    private transient MapState<byte[], byte[]> rows;

    private Lookup(boolean isOuter) {
        this.isOuter = isOuter;
    }

    /**
     * The joined records of a stream.
     *
     * @param both the input
     * @param isOuter whether a record without a match is in the result
     */
    public static Dataset<Row> of(Dataset<Row> both, boolean isOuter) {
        return both.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(both.schema()))
                .transformWithState(new Lookup(isOuter), TimeMode.None(), OutputMode.Update(), Encoders.row(JOINED));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        rows = getHandle().getMapState("rows", Encoders.BINARY(), Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> both, TimerValues timers) {
        List<Row> upserts = new ArrayList<>();
        List<Row> records = new ArrayList<>();
        while (both.hasNext()) {
            Row row = both.next();
            (row.getBoolean(IS_TABLE) ? upserts : records).add(row);
        }
        List<Row> joined = new ArrayList<>();
        CachedState cached = new CachedState(rows);
        ArrivalOrder.merge(ArrivalOrder.sorted(upserts), ArrivalOrder.sorted(records), (row, isUpsert) -> {
            if (isUpsert) {
                cached.put(row.<byte[]>getAs(ROW_ID), row.<byte[]>getAs(ROW));
            } else {
                join(row, cached, joined);
            }
        });
        cached.flush();
        return CollectionConverters.asScala(joined.iterator());
    }

    private void join(Row record, CachedState cached, List<Row> joined) {
        for (byte[] match : cached.rows()) {
            joined.add(of(record, match));
        }
        if (isOuter && cached.isEmpty()) {
            joined.add(of(record, null));
        }
    }

    private static Row of(Row record, byte[] match) {
        return RowFactory.create(
                record.get(ArrivalOrder.ID),
                record.get(ArrivalOrder.PARTITION),
                record.get(ArrivalOrder.OFFSET),
                record.get(ROW),
                match);
    }
}
