package com.lsqlrunner.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;

/** Runs a function whose buffer is an object. */
final class ImperativeRunner<T> implements FunctionRunner {
    private static final DataType OBJECT = new ObjectType(Object.class);
    private static final StructType BYTES = new StructType().add("b", DataTypes.BinaryType);

    private final TypedImperativeAggregate<T> function;

    @SuppressWarnings("unchecked")
    ImperativeRunner(TypedImperativeAggregate<T> unbound, List<Attribute> input) {
        function = (TypedImperativeAggregate<T>) FunctionRunner.bind(unbound, input);
    }

    @Override
    public StructType schema() {
        return BYTES;
    }

    @Override
    public InternalRow empty() {
        return new GenericInternalRow(new Object[] {function.createAggregationBuffer()});
    }

    @SuppressWarnings("unchecked")
    private T of(InternalRow buffer) {
        return (T) buffer.get(0, OBJECT);
    }

    @Override
    public void add(InternalRow buffer, InternalRow row) {
        buffer.update(0, function.update(of(buffer), row));
    }

    @Override
    public void merge(InternalRow buffer, InternalRow other) {
        buffer.update(0, function.merge(of(buffer), of(other)));
    }

    @Override
    public Object result(InternalRow buffer) {
        return function.eval(of(buffer));
    }

    @Override
    public void collect(InternalRow buffer, List<Object> values) {
        values.add(function.serialize(of(buffer)));
    }

    @Override
    public InternalRow restore(InternalRow row, int offset) {
        return new GenericInternalRow(new Object[] {function.deserialize(row.getBinary(offset))});
    }
}
