package com.lsqlrunner.expression;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** An expression of ours: children, literal parameters, and by these its equality. */
public abstract class LsqlExpression extends Expression implements Serializable {
    private static final long serialVersionUID = 1L;

    private final Identity identity;

    /**
     * An expression.
     *
     * @param children what is computed from
     * @param parameters all else that two expressions of the class differ by; shown in plans
     */
    protected LsqlExpression(List<? extends Expression> children, Object... parameters) {
        identity = new Identity(children, parameters);
    }

    /** The same expression of other children. */
    protected abstract Expression withChildren(List<Expression> children);

    protected final Expression child(int place) {
        return identity.child(place);
    }

    protected final Object parameter(int place) {
        return identity.parameter(place);
    }

    protected final String text(int place) {
        return (String) identity.parameter(place);
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
    public final Object productElement(int place) {
        return identity.element(place);
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
