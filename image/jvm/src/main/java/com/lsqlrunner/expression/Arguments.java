package com.lsqlrunner.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** The arguments of a function call. */
public record Arguments(List<Expression> all) {
    /** The number of arguments. */
    public int count() {
        return all.size();
    }

    /** The first argument. */
    public Expression first() {
        return all.get(0);
    }

    /** An argument by its index, from 0. */
    public Expression at(int index) {
        return all.get(index);
    }

    /** The value of a literal. */
    public Object value(int index) {
        return ((Literal) all.get(index)).value();
    }

    /** The text of a literal. */
    public String string(int index) {
        return value(index).toString();
    }

    /** The whole number of a literal. */
    public int number(int index) {
        return Math.toIntExact(longNumber(index));
    }

    /** The whole number of a literal. */
    public long longNumber(int index) {
        return ((Number) value(index)).longValue();
    }

    /** The struct type of a literal that has the JSON of a Spark type. */
    public StructType type(int index) {
        return (StructType) DataType.fromJson(string(index));
    }
}
