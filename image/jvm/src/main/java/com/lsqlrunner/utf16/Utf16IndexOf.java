package com.lsqlrunner.utf16;

import com.lsqlrunner.expression.BinaryFunction;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;

/** The position of a text in another, in UTF-16 code units from 0; -1 if it is not there. */
public final class Utf16IndexOf extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    /** Creates the function. */
    public Utf16IndexOf(Expression text, Expression part) {
        super(text, part);
    }

    @Override
    public Integer call(Object text, Object part) {
        return CodeUnits.indexOf((UTF8String) text, (UTF8String) part);
    }

    @Override
    protected Utf16IndexOf withChildren(List<Expression> children) {
        return new Utf16IndexOf(children.get(0), children.get(1));
    }

    @Override
    public DataType dataType() {
        return DataTypes.IntegerType;
    }

    @Override
    public String prettyName() {
        return "lsql_utf16_index_of";
    }
}
