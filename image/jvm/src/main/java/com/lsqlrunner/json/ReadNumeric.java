package com.lsqlrunner.json;

import com.lsqlrunner.expression.UnaryFunction;
import com.lsqlrunner.value.NumericArithmetic;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;

/** Converts the kept text of a JSON number to a decimal; the record is malformed if the number does not fit. */
public final class ReadNumeric extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    /** Creates the function. */
    public ReadNumeric(Expression child) {
        super(child);
    }

    @Override
    public Decimal call(Object text) {
        return JsonRecordReader.decimal(text.toString(), NumericArithmetic.TYPE);
    }

    @Override
    protected ReadNumeric withChild(Expression other) {
        return new ReadNumeric(other);
    }

    @Override
    public DataType dataType() {
        return NumericArithmetic.TYPE;
    }

    @Override
    public String prettyName() {
        return "lsql_read_numeric";
    }
}
