package com.lsqlrunner.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Runs Spark's aggregate functions outside of Spark's aggregation. Each group has a buffer. Rows are added to it, other
 * buffers are merged into it, and results are computed from it. A buffer is stored as bytes.
 */
final class Aggregates implements Serializable {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's expressions are serializable, but their types do not declare it.
    private final List<AggregateFunction> functions;

    @SuppressWarnings("serial")
    private final List<Attribute> input;

    private transient List<FunctionRunner> runners;
    private transient UnsafeProjection bufferProjection;
    private transient UnsafeProjection resultProjection;

    private Aggregates(List<AggregateFunction> functions, List<Attribute> input) {
        this.functions = functions;
        this.input = input;
    }

    /** The functions of {@code rows.agg(...)}, each of which is a column. */
    static Aggregates of(Dataset<Row> aggregated) {
        LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) aggregated)
                .queryExecution()
                .analyzed();
        Aggregate aggregate = (Aggregate) plan;
        List<AggregateFunction> functions = new ArrayList<>();
        for (NamedExpression column : CollectionConverters.asJava(aggregate.aggregateExpressions())) {
            functions.add(((AggregateExpression) ((Alias) column).child()).aggregateFunction());
        }
        return new Aggregates(
                functions,
                new ArrayList<>(CollectionConverters.asJava(aggregate.child().output())));
    }

    /** The number of columns of a row that is added. */
    int arguments() {
        return input.size();
    }

    /** An empty buffer. */
    InternalRow[] empty() {
        InternalRow[] buffer = new InternalRow[runners().size()];
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = runners.get(i).empty();
        }
        return buffer;
    }

    /** Adds a row. */
    void add(InternalRow[] buffer, InternalRow row) {
        for (int i = 0; i < buffer.length; i++) {
            runners().get(i).add(buffer[i], row);
        }
    }

    /** Merges another buffer into a buffer. */
    void merge(InternalRow[] buffer, InternalRow[] other) {
        for (int i = 0; i < buffer.length; i++) {
            runners().get(i).merge(buffer[i], other[i]);
        }
    }

    /** The results as a packed row. */
    byte[] results(InternalRow[] buffer) {
        Object[] results = new Object[buffer.length];
        for (int i = 0; i < buffer.length; i++) {
            results[i] = runners().get(i).result(buffer[i]);
        }
        return resultProjection.apply(new GenericInternalRow(results)).copy().getBytes();
    }

    /** The bytes of a buffer. */
    byte[] bytes(InternalRow[] buffer) {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < buffer.length; i++) {
            runners().get(i).collect(buffer[i], values);
        }
        return bufferProjection
                .apply(new GenericInternalRow(values.toArray()))
                .copy()
                .getBytes();
    }

    /** The inverse of {@link #bytes}. */
    InternalRow[] buffer(byte[] bytes) {
        List<FunctionRunner> all = runners();
        UnsafeRow row = new UnsafeRow(
                all.stream().mapToInt(runner -> runner.schema().length()).sum());
        row.pointTo(bytes, bytes.length);
        InternalRow[] buffer = new InternalRow[all.size()];
        int offset = 0;
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = all.get(i).restore(row, offset);
            offset += all.get(i).schema().length();
        }
        return buffer;
    }

    private List<FunctionRunner> runners() {
        if (runners == null) {
            runners = new ArrayList<>();
            StructType all = new StructType();
            StructType results = new StructType();
            for (AggregateFunction function : functions) {
                FunctionRunner runner = FunctionRunner.of(function, input);
                runners.add(runner);
                for (var field : runner.schema().fields()) {
                    all = all.add("b" + all.length(), field.dataType());
                }
                results = results.add("r" + results.length(), function.dataType());
            }
            bufferProjection = UnsafeProjection.create(all);
            resultProjection = UnsafeProjection.create(results);
        }
        return runners;
    }
}
