package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Aggregates the rows of a table by groups. The state contains the buffers of every group that has rows.
 *
 * <p>Input: {@link Changes} of rows whose first columns are the grouping columns. Output: {@code id} (BINARY, the
 * packed group), {@code result} (BINARY, packed) of every changed group, including groups without rows, and
 * {@code is_unchanged} (BOOLEAN: the result is that of before, and is only repeated, {@link TaskBatch#repeatsOpening}).
 */
@PythonEntry
public final class TableGroups extends StatefulProcessor<byte[], Row, Row> implements QueryableState {
    private static final long serialVersionUID = 1L;

    /** The index of the aggregate that counts the rows. */
    private static final int ROW_COUNT = 1;

    private static final String GROUP = "group";

    private static final StructType RESULTS = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("result", DataTypes.BinaryType)
            .add("is_unchanged", DataTypes.BooleanType);

    private final Aggregates aggregates;
    private final int results;
    private transient ValueState<byte[]> group;
    private transient boolean repeatsOpening;

    private TableGroups(Aggregates aggregates, int results) {
        this.aggregates = aggregates;
        this.results = results;
    }

    /**
     * The results of every group that changes, one for each batch.
     *
     * @param changes the input
     * @param aggregated the computation: {@code rows.agg(...)} over any rows with {@code ts}, {@code sign} (INT, 1 for
     *     an added row, -1 for a removed one) and the columns of the changed rows; the second result is the sum of the
     *     signs
     * @param keys the columns that are grouped by, which are the first columns of a row
     */
    public static Dataset<Row> of(Dataset<Row> changes, Dataset<Row> aggregated, StructType keys) {
        Aggregates aggregates = Aggregates.of(aggregated);
        return changes.mapPartitions(new PartialAggregation(aggregates, keys), Encoders.row(PartialAggregation.BUFFERS))
                .groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(PartialAggregation.BUFFERS))
                .transformWithState(
                        new TableGroups(aggregates, aggregated.schema().length()),
                        TimeMode.None(),
                        OutputMode.Update(),
                        Encoders.row(RESULTS));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        repeatsOpening = TaskBatch.repeatsOpening();
        group = getHandle().getValueState(GROUP, Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> buffers, TimerValues timers) {
        byte[] before = group.get();
        InternalRow[] buffer = before == null ? aggregates.empty() : aggregates.buffer(before);
        while (buffers.hasNext()) {
            aggregates.merge(buffer, aggregates.buffer(buffers.next().getAs(PartialAggregation.BUFFER)));
        }
        byte[] result = aggregates.results(buffer);
        if (rowCount(result) > 0) {
            group.update(aggregates.bytes(buffer));
        } else if (before != null) {
            group.clear();
        }
        boolean isAsBefore = before == null
                ? rowCount(result) == 0
                : Arrays.equals(aggregates.results(aggregates.buffer(before)), result);
        return CollectionConverters.asScala(List.of(RowFactory.create(id, result, repeatsOpening && isAsBefore))
                .iterator());
    }

    @Override
    public String variable() {
        return GROUP;
    }

    @Override
    public List<Function<String, Object>> rows(byte[] id, byte[] stored) {
        return List.of(column -> switch (column) {
            case "id" -> id;
            case "result" -> aggregates.results(aggregates.buffer(stored));
            default -> false;
        });
    }

    private long rowCount(byte[] result) {
        UnsafeRow row = new UnsafeRow(results);
        row.pointTo(result, result.length);
        return row.getLong(ROW_COUNT);
    }
}
