package com.lsqlrunner.policies;

import com.lsqlrunner.expression.UnaryFunction;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Whether bytes differ from the bytes of the previous row of the task. The rows of a record are consecutive, so this is
 * true for the first row of each record.
 */
public final class FirstOfRecord extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private transient byte[] previous;

    public FirstOfRecord(Expression child) {
        super(child);
    }

    @Override
    public Boolean call(Object value) {
        byte[] bytes = (byte[]) value;
        boolean isSame = Arrays.equals(previous, bytes);
        previous = bytes;
        return !isSame;
    }

    @Override
    protected FirstOfRecord withChild(Expression other) {
        return new FirstOfRecord(other);
    }

    /** The result depends on the previous call, so Spark must neither move nor copy the expression. */
    @Override
    public boolean deterministic() {
        return false;
    }

    @Override
    public DataType dataType() {
        return DataTypes.BooleanType;
    }

    @Override
    public String prettyName() {
        return "lsql_first_of_record";
    }
}
