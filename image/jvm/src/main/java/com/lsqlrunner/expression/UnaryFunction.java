package com.lsqlrunner.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;

/** A function of one argument. */
public abstract class UnaryFunction extends CalledFunction {
    private static final long serialVersionUID = 1L;

    protected UnaryFunction(Expression child, Object... parameters) {
        super(List.of(child), parameters);
    }

    /** The result for an argument that is not null; may be null. Public, because generated code calls it. */
    public abstract Object call(Object value);

    /** A copy with another child. */
    protected abstract UnaryFunction withChild(Expression other);

    protected final Expression child() {
        return child(0);
    }

    @Override
    protected final Expression withChildren(List<Expression> children) {
        return withChild(children.get(0));
    }

    @Override
    public final Object eval(InternalRow row) {
        Object value = child().eval(row);
        return value == null ? null : call(value);
    }

    /** The result of {@code checkInputDataTypes} of a function of structs. */
    protected final TypeCheckResult checkStruct() {
        return child().dataType() instanceof StructType
                ? TypeCheckResult.TypeCheckSuccess$.MODULE$
                : new TypeCheckResult.TypeCheckFailure(
                        "expected a struct, found " + child().dataType().simpleString());
    }
}
