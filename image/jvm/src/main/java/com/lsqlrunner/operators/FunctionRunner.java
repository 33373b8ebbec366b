package com.lsqlrunner.operators;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/** Runs one aggregate function on its buffer, which is a row. */
interface FunctionRunner {
    /** The columns of the stored buffer. */
    StructType schema();

    /** An empty buffer. */
    InternalRow empty();

    /** Adds a row to a buffer. */
    void add(InternalRow buffer, InternalRow row);

    /** Merges {@code other} into {@code buffer}. */
    void merge(InternalRow buffer, InternalRow other);

    /** The result of a buffer. */
    Object result(InternalRow buffer);

    /** Appends the columns of a buffer, as they are stored. */
    void collect(InternalRow buffer, List<Object> values);

    /** The buffer whose stored columns begin at {@code offset}. */
    InternalRow restore(InternalRow row, int offset);

    /** The runner for a function whose arguments are columns of {@code input}. */
    static FunctionRunner of(AggregateFunction function, List<Attribute> input) {
        return function instanceof DeclarativeAggregate declarative
                ? new DeclarativeRunner(declarative, input)
                : new ImperativeRunner<>((TypedImperativeAggregate<?>) function, input);
    }

    /** Replaces the attributes of an expression by their ordinals in a row. */
    static Expression bind(Expression expression, List<? extends Attribute> attributes) {
        return expression.transform(new AbstractPartialFunction<Expression, Expression>() {
            @Override
            public boolean isDefinedAt(Expression part) {
                return part instanceof AttributeReference;
            }

            @Override
            @SuppressWarnings("unchecked")
            public <A extends Expression, B> B applyOrElse(A part, Function1<A, B> otherwise) {
                for (int i = 0; i < attributes.size(); i++) {
                    Attribute attribute = attributes.get(i);
                    if (part instanceof AttributeReference reference
                            && reference.exprId().equals(attribute.exprId())) {
                        return (B) new BoundReference(i, attribute.dataType(), attribute.nullable());
                    }
                }
                return otherwise.apply(part);
            }
        });
    }
}
