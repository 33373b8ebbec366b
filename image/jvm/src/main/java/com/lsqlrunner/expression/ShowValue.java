package com.lsqlrunner.expression;

import com.lsqlrunner.errors.ShownValue;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** A value of a record as text for an error message, or another text if error texts do not include values. */
public final class ShowValue extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    /** Creates the function of two texts: the value, and its replacement. */
    public ShowValue(Expression value, Expression otherwise) {
        super(value, otherwise);
    }

    @Override
    public Object call(Object value, Object otherwise) {
        return ShownValue.isIncluded() ? value : otherwise;
    }

    @Override
    protected ShowValue withChildren(List<Expression> children) {
        return new ShowValue(children.get(0), children.get(1));
    }

    @Override
    public DataType dataType() {
        return DataTypes.StringType;
    }

    @Override
    public String prettyName() {
        return "lsql_show_value";
    }
}
