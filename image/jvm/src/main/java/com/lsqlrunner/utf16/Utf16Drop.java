package com.lsqlrunner.utf16;

import com.lsqlrunner.expression.BinaryFunction;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** Text without its first UTF-16 code units. */
public final class Utf16Drop extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    /** Creates the function. */
    public Utf16Drop(Expression text, Expression count) {
        super(text, count);
    }

    @Override
    public UTF8String call(Object text, Object count) {
        return CodeUnits.drop((UTF8String) text, (Integer) count);
    }

    @Override
    protected Utf16Drop withChildren(List<Expression> children) {
        return new Utf16Drop(children.get(0), children.get(1));
    }

    @Override
    public DataType dataType() {
        return DataTypes.StringType;
    }

    @Override
    public String prettyName() {
        return "lsql_utf16_drop";
    }
}
