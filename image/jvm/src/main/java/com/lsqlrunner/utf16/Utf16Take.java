package com.lsqlrunner.utf16;

import com.lsqlrunner.expression.BinaryFunction;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** The first UTF-16 code units of text. */
public final class Utf16Take extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    /** Creates the function. */
    public Utf16Take(Expression text, Expression count) {
        super(text, count);
    }

    @Override
    public UTF8String call(Object text, Object count) {
        return CodeUnits.take((UTF8String) text, (Integer) count);
    }

    @Override
    protected Utf16Take withChildren(List<Expression> children) {
        return new Utf16Take(children.get(0), children.get(1));
    }

    @Override
    public DataType dataType() {
        return DataTypes.StringType;
    }

    @Override
    public String prettyName() {
        return "lsql_utf16_take";
    }
}
