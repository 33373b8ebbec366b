package com.lsqlrunner.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/**
 * An aggregate of an aggregation of Spark, and its buffer.
 *
 * @param result the column of its result
 * @param offset the first column of its buffer, among the buffers of a group
 */
record BufferedAggregate(Attribute result, FunctionRunner runner, int offset) {
    /**
     * The aggregates of an aggregation, in the order of their buffers. Spark keeps equal ones once.
     *
     * @param last the step that computes the results
     */
    static List<BufferedAggregate> of(BaseAggregateExec last) {
        List<Attribute> rows = CollectionConverters.asJava(
                ((BaseAggregateExec) last.child()).child().output());
        List<BufferedAggregate> aggregates = new ArrayList<>();
        int offset = 0;
        for (AggregateExpression each : CollectionConverters.asJava(last.aggregateExpressions())) {
            FunctionRunner runner = FunctionRunner.of(each.aggregateFunction(), rows);
            aggregates.add(new BufferedAggregate(each.resultAttribute(), runner, offset));
            offset += runner.schema().length();
        }
        return List.copyOf(aggregates);
    }

    /** The columns of the buffers of a group. */
    static StructType buffers(List<BufferedAggregate> aggregates) {
        return new StructType(aggregates.stream()
                .flatMap(each -> List.of(each.runner.schema().fields()).stream())
                .toArray(StructField[]::new));
    }
}
