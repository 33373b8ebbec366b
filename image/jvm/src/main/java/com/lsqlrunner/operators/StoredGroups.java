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
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** The results of an aggregation of Spark, from the groups and buffers in its state. */
public final class StoredGroups {
    private final List<BufferedAggregate> aggregates;
    private final int groups;
    private final UnsafeProjection results;

    /** @param last the step of the aggregation that computes its results */
    public StoredGroups(BaseAggregateExec last) {
        List<Attribute> input = new ArrayList<>();
        CollectionConverters.asJava(last.groupingExpressions()).forEach(group -> input.add(group.toAttribute()));
        groups = input.size();
        aggregates = BufferedAggregate.of(last);
        aggregates.forEach(each -> input.add(each.result()));
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
        return BufferedAggregate.buffers(aggregates);
    }

    /** The result of a group. It is valid until the next call. */
    public InternalRow result(UnsafeRow group, UnsafeRow buffers) {
        Object[] values = new Object[aggregates.size()];
        for (int i = 0; i < values.length; i++) {
            FunctionRunner runner = aggregates.get(i).runner();
            values[i] = runner.result(runner.restore(buffers, aggregates.get(i).offset()));
        }
        return results.apply(new JoinedRow(group, new GenericInternalRow(values)));
    }
}
