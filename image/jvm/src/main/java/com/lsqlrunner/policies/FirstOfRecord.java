package com.lsqlrunner.policies;

import com.lsqlrunner.expression.UnaryFunction;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Whether bytes differ from those of the row before, in the order of a task's rows. The rows that one record was made
 * into follow one another, so this is true for the first of them.
 */
public final class FirstOfRecord extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private transient byte[] last;

    public FirstOfRecord(Expression child) {
        super(child);
    }

    @Override
    public Boolean call(Object value) {
        byte[] bytes = (byte[]) value;
        boolean same = Arrays.equals(last, bytes);
        last = bytes;
        return !same;
    }

    @Override
    protected FirstOfRecord withChild(Expression other) {
        return new FirstOfRecord(other);
    }

    /** The result depends on the call before, so Spark must neither move nor copy it. */
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
