package com.lsqlrunner.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** The results of an aggregation of Spark, from the groups and buffers in its state. */
public final class StoredGroups {
    private final List<FunctionRunner> runners = new ArrayList<>();
    private final int groups;
    private final StructType columns;
    private final UnsafeProjection results;

    /** @param last the step of the aggregation that computes its results */
    public StoredGroups(BaseAggregateExec last) {
        List<Attribute> input = new ArrayList<>();
        CollectionConverters.asJava(last.groupingExpressions()).forEach(group -> input.add(group.toAttribute()));
        groups = input.size();
        List<Attribute> rows = CollectionConverters.asJava(
                ((BaseAggregateExec) last.child()).child().output());
        List<StructField> buffers = new ArrayList<>();
        for (AggregateExpression each : CollectionConverters.asJava(last.aggregateExpressions())) {
            FunctionRunner runner = FunctionRunner.of(each.aggregateFunction(), rows);
            runners.add(runner);
            buffers.addAll(List.of(runner.schema().fields()));
            input.add(each.resultAttribute());
        }
        columns = new StructType(buffers.toArray(new StructField[0]));
        List<Expression> expressions = new ArrayList<>();
        CollectionConverters.asJava(last.resultExpressions()).forEach(each -> expressions.add((Expression) each));
        results = UnsafeProjection.create(
                CollectionConverters.asScala(expressions).toSeq(),
                CollectionConverters.asScala(input).toSeq());
        results.initialize(0);
    }

    /** The number of columns of a group. */
    public int groups() {
        return groups;
    }

    /** The columns of the buffers of a group. */
    public StructType buffers() {
        return columns;
    }

    /** The result of a group. It is valid until the next call. */
    public InternalRow result(UnsafeRow group, UnsafeRow buffers) {
        Object[] values = new Object[runners.size()];
        int offset = 0;
        for (int i = 0; i < values.length; i++) {
            FunctionRunner runner = runners.get(i);
            values[i] = runner.result(runner.restore(buffers, offset));
            offset += runner.schema().length();
        }
        return results.apply(new JoinedRow(group, new GenericInternalRow(values)));
    }
}
