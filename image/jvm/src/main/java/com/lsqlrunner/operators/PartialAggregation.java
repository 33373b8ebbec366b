package com.lsqlrunner.operators;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers$;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Aggregates {@link Changes} before the shuffle, like Spark's partial aggregation: the row before the change is
 * subtracted from its group, the row after it is added. Many changes of a group become one buffer, so a frequent group
 * causes no large shuffle.
 *
 * <p>Output: {@code id} (BINARY, the packed group), {@code buffer} (BINARY). A group may occur several times.
 */
final class PartialAggregation implements MapPartitionsFunction<Row, Row> {
    private static final long serialVersionUID = 1L;

    static final StructType BUFFERS =
            new StructType().add("id", DataTypes.BinaryType).add("buffer", DataTypes.BinaryType);
    static final int BUFFER = 1;

    /**
     * The number of changes after which the buffers are output. Each change may belong to another group, and all
     * buffers are on the heap.
     */
    private static final int MAX_CHANGES = 10_000;

    private final Aggregates aggregates;
    private final StructType keys;

    private transient UnsafeProjection group;

    /** @param keys the columns that are grouped by, which are the first columns of a row */
    PartialAggregation(Aggregates aggregates, StructType keys) {
        this.aggregates = aggregates;
        this.keys = keys;
    }

    @Override
    public Iterator<Row> call(Iterator<Row> changes) {
        return new Iterator<>() {
            private Iterator<Row> buffers = Collections.emptyIterator();

            @Override
            public boolean hasNext() {
                while (!buffers.hasNext() && changes.hasNext()) {
                    buffers = aggregated(changes).iterator();
                }
                return buffers.hasNext();
            }

            @Override
            public Row next() {
                return buffers.next();
            }
        };
    }

    private List<Row> aggregated(Iterator<Row> changes) {
        Map<UnsafeRow, InternalRow[]> groups = new HashMap<>();
        for (int remaining = TaskBatch.isOpen() ? 1 : MAX_CHANGES; remaining > 0 && changes.hasNext(); remaining--) {
            Row change = changes.next();
            add(groups, change, -1, change.getAs(Changes.BEFORE));
            add(groups, change, 1, change.getAs(Changes.AFTER));
        }
        List<Row> buffers = new ArrayList<>(groups.size());
        groups.forEach((id, buffer) -> buffers.add(RowFactory.create(id.getBytes(), aggregates.bytes(buffer))));
        return buffers;
    }

    private void add(Map<UnsafeRow, InternalRow[]> groups, Row change, int sign, byte[] packed) {
        if (packed == null) {
            return;
        }
        UnsafeRow row = new UnsafeRow(aggregates.arguments() - 2);
        row.pointTo(packed, packed.length);
        UnsafeRow id = group().apply(row);
        InternalRow[] buffer = groups.get(id);
        if (buffer == null) {
            buffer = aggregates.empty();
            groups.put(id.copy(), buffer);
        }
        InternalRow signed = new GenericInternalRow(new Object[] {change.getLong(ArrivalOrder.TS), sign});
        aggregates.add(buffer, new JoinedRow(signed, row));
    }

    /**
     * The group of a row. Equal numbers belong to one group even if their bytes differ, as in Spark's own aggregates.
     */
    private UnsafeProjection group() {
        if (group == null) {
            List<Expression> columns = new ArrayList<>();
            for (int i = 0; i < keys.length(); i++) {
                columns.add(NormalizeFloatingNumbers$.MODULE$.normalize(
                        new BoundReference(i, keys.apply(i).dataType(), true)));
            }
            group = UnsafeProjection.create(
                    CollectionConverters.asScala(columns).toSeq());
        }
        return group;
    }
}
