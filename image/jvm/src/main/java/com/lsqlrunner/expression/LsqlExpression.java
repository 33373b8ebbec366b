package com.lsqlrunner.expression;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Base class of the expressions of this module: children, literal parameters, and equality by both. */
public abstract class LsqlExpression extends Expression implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Identity identity;

    /**
     * Creates an expression.
     *
     * @param children the input expressions
     * @param parameters other values that distinguish expressions of the class; shown in plans
     */
    protected LsqlExpression(List<? extends Expression> children, Object... parameters) {
        identity = new Identity(children, parameters);
    }

    /** A copy with other children. */
    protected abstract Expression withChildren(List<Expression> children);

    protected final Expression child(int index) {
        return identity.child(index);
    }

    protected final Object parameter(int index) {
        return identity.parameter(index);
    }

    protected final String stringParameter(int index) {
        return (String) identity.parameter(index);
    }

    @Override
    public final Seq<Expression> children() {
        return identity.childSeq();
    }

    @Override
    public final Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return withChildren(CollectionConverters.asJava(children));
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
    public final boolean canEqual(Object other) {
        return other != null && getClass() == other.getClass();
    }

    @Override
    public final boolean equals(Object other) {
        return canEqual(other) && identity.equals(((LsqlExpression) other).identity);
    }

    @Override
    public final int hashCode() {
        return 31 * getClass().getName().hashCode() + identity.hashCode();
    }
}
