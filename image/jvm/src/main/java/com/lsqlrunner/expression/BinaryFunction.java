package com.lsqlrunner.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;

/** A function of two arguments. */
public abstract class BinaryFunction extends CalledFunction {
    private static final long serialVersionUID = 1L;

    protected BinaryFunction(Expression first, Expression second, Object... parameters) {
        super(List.of(first, second), parameters);
    }

    /** The result for arguments that are not null; may be null. Public, because generated code calls it. */
    public abstract Object call(Object first, Object second);

    @Override
    public boolean nullable() {
        return child(0).nullable() || child(1).nullable();
    }

    @Override
    public final Object eval(InternalRow row) {
        Object first = child(0).eval(row);
        Object second = first == null ? null : child(1).eval(row);
        return second == null ? null : call(first, second);
    }
}
