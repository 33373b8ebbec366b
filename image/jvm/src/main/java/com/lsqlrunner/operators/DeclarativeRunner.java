package com.lsqlrunner.operators;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Runs a function that consists of expressions over its buffer. */
final class DeclarativeRunner implements FunctionRunner {
    private final StructType schema;
    private final MutableProjection initial;
    private final MutableProjection update;
    private final MutableProjection merge;
    private final Expression result;
    private final JoinedRow joined = new JoinedRow();

    DeclarativeRunner(DeclarativeAggregate function, List<Attribute> input) {
        schema = function.aggBufferSchema();
        List<AttributeReference> own = CollectionConverters.asJava(function.aggBufferAttributes());
        List<AttributeReference> others = CollectionConverters.asJava(function.inputAggBufferAttributes());
        initial = MutableProjection.create(function.initialValues());
        update = MutableProjection.create(
                function.updateExpressions(), seq(DeclarativeRunner.<Attribute>concat(own, input)));
        merge = MutableProjection.create(
                function.mergeExpressions(), seq(DeclarativeRunner.<Attribute>concat(own, others)));
        result = FunctionRunner.bind(function.evaluateExpression(), own);
    }

    @Override
    public StructType schema() {
        return schema;
    }

    @Override
    public InternalRow empty() {
        InternalRow buffer = new GenericInternalRow(schema.length());
        initial.target(buffer).apply(InternalRow.empty());
        return buffer;
    }

    @Override
    public void add(InternalRow buffer, InternalRow row) {
        update.target(buffer).apply(joined.apply(buffer, row));
    }

    @Override
    public void merge(InternalRow buffer, InternalRow other) {
        merge.target(buffer).apply(joined.apply(buffer, other));
    }

    @Override
    public Object result(InternalRow buffer) {
        return result.eval(buffer);
    }

    @Override
    public void collect(InternalRow buffer, List<Object> values) {
        for (int i = 0; i < schema.length(); i++) {
            values.add(buffer.isNullAt(i) ? null : buffer.get(i, schema.apply(i).dataType()));
        }
    }

    @Override
    public InternalRow restore(InternalRow row, int offset) {
        Object[] values = new Object[schema.length()];
        for (int i = 0; i < values.length; i++) {
            values[i] = row.isNullAt(offset + i)
                    ? null
                    : row.get(offset + i, schema.apply(i).dataType());
        }
        return new GenericInternalRow(values);
    }

    private static <T> Seq<T> seq(List<T> items) {
        return CollectionConverters.asScala(items).toSeq();
    }

    private static <T> List<T> concat(List<? extends T> first, List<? extends T> second) {
        List<T> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }
}
