package com.lsqlrunner.utf16;

import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** The length of text in UTF-16 code units. */
public final class Utf16Length extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    /** Creates the function. */
    public Utf16Length(Expression text) {
        super(text);
    }

    @Override
    public Integer call(Object text) {
        return CodeUnits.length((UTF8String) text);
    }

    @Override
    protected Utf16Length withChild(Expression other) {
        return new Utf16Length(other);
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }

    @Override
    public DataType dataType() {
        return DataTypes.IntegerType;
    }

    @Override
    public String prettyName() {
        return "lsql_utf16_length";
    }
}
