package com.lsqlrunner.aggregate;

import com.lsqlrunner.expression.Identity;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Base class of the aggregates. Over the changes of a table, the last child is a sign, an int: 1 for a value that is
 * added, -1 for a value that is retracted.
 *
 * @param <T> the state of a group
 */
abstract class RetractingAggregate<T> extends TypedImperativeAggregate<T> implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The offsets of the buffer in the row that Spark updates, and in the rows that it merges. */
    record Offsets(int mutable, int input) implements Serializable {
        private static final long serialVersionUID = 1L;
        static final Offsets NONE = new Offsets(0, 0);
    }

    private final Identity identity;
    private final boolean hasSign;
    private final Offsets offsets;

    /**
     * Creates an aggregate.
     *
     * @param value the first child
     * @param more further children
     * @param sign null if values are never retracted
     * @param offsets the offsets of the buffer
     * @param parameters other values that distinguish aggregates of the class
     */
    RetractingAggregate(
            Expression value, List<Expression> more, Expression sign, Offsets offsets, Object... parameters) {
        List<Expression> children = new ArrayList<>(List.of(value));
        children.addAll(more);
        if (sign != null) {
            children.add(sign);
        }
        this.identity = new Identity(children, parameters);
        this.hasSign = sign != null;
        this.offsets = offsets;
    }

    /** A copy with other children and offsets. */
    abstract RetractingAggregate<T> copy(Expression value, List<Expression> more, Expression sign, Offsets offsets);

    private RetractingAggregate<T> copy(List<Expression> children, Offsets to) {
        int end = children.size() - (hasSign ? 1 : 0);
        return copy(children.get(0), List.copyOf(children.subList(1, end)), hasSign ? children.get(end) : null, to);
    }

    final Expression value() {
        return identity.child(0);
    }

    final boolean retracts() {
        return hasSign;
    }

    /** 1 if the value of the row is added, -1 if it is retracted. */
    final int sign(InternalRow row) {
        return hasSign
                ? (Integer) identity.child(identity.children().size() - 1).eval(row)
                : 1;
    }

    @Override
    public final Seq<Expression> children() {
        return identity.childSeq();
    }

    @Override
    public final Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return copy(CollectionConverters.asJava(children), offsets);
    }

    @Override
    public final int mutableAggBufferOffset() {
        return offsets.mutable;
    }

    @Override
    public final RetractingAggregate<T> withNewMutableAggBufferOffset(int offset) {
        return copy(identity.children(), new Offsets(offset, offsets.input));
    }

    @Override
    public final int inputAggBufferOffset() {
        return offsets.input;
    }

    @Override
    public final RetractingAggregate<T> withNewInputAggBufferOffset(int offset) {
        return copy(identity.children(), new Offsets(offsets.mutable, offset));
    }

    @Override
    public final boolean canEqual(Object other) {
        return other != null && getClass() == other.getClass();
    }

    @Override
    public final int productArity() {
        return identity.size();
    }

    @Override
    public final Object productElement(int index) {
        return identity.element(index);
    }

    @Override
    public final boolean equals(Object other) {
        return canEqual(other)
                && other instanceof RetractingAggregate<?> that
                && identity.equals(that.identity)
                && hasSign == that.hasSign
                && offsets.equals(that.offsets);
    }

    @Override
    public final int hashCode() {
        return 31 * getClass().getName().hashCode() + identity.hashCode();
    }
}
