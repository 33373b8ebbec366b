package com.lsqlrunner.expression;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** What a function was called with. */
public record Arguments(List<Expression> all) {
    /** The first argument. */
    public Expression first() {
        return all.get(0);
    }

    /** An argument by its place, from 0. */
    public Expression at(int place) {
        return all.get(place);
    }

    /** A literal's value. */
    public Object value(int place) {
        return ((Literal) all.get(place)).value();
    }

    /** A literal's text. */
    public String text(int place) {
        return value(place).toString();
    }

    /** A literal whole number. */
    public int number(int place) {
        return ((Number) value(place)).intValue();
    }

    /** A struct's type that a literal has in the JSON of Spark's types. */
    public StructType type(int place) {
        return (StructType) DataType.fromJson(text(place));
    }
}
