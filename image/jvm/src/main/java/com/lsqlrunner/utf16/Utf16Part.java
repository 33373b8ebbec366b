package com.lsqlrunner.utf16;

import com.lsqlrunner.expression.BinaryFunction;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** The first UTF-16 code units of text, or the text without them. */
public final class Utf16Part extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    private final boolean isFirst;

    private Utf16Part(Expression text, Expression count, boolean isFirst) {
        super(text, count, isFirst);
        this.isFirst = isFirst;
    }

    /** The first {@code count} code units of a text. */
    public static Utf16Part take(Expression text, Expression count) {
        return new Utf16Part(text, count, true);
    }

    /** A text without its first {@code count} code units. */
    public static Utf16Part drop(Expression text, Expression count) {
        return new Utf16Part(text, count, false);
    }

    @Override
    public UTF8String call(Object text, Object count) {
        UTF8String whole = (UTF8String) text;
        int units = (Integer) count;
        return isFirst ? CodeUnits.take(whole, units) : CodeUnits.drop(whole, units);
    }

    @Override
    protected Utf16Part withChildren(List<Expression> children) {
        return new Utf16Part(children.get(0), children.get(1), isFirst);
    }

    @Override
    public DataType dataType() {
        return DataTypes.StringType;
    }

    @Override
    public String prettyName() {
        return isFirst ? "lsql_utf16_take" : "lsql_utf16_drop";
    }
}
