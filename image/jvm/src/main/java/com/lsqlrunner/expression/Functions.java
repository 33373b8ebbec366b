package com.lsqlrunner.expression;

import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Expressions of ours as functions of a session, which Python can call by name. */
public final class Functions {
  private Functions() {}

  /** What a function was called with. */
  public record Arguments(List<Expression> all) {
    /** The first argument. */
    public Expression first() {
      return all.get(0);
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

  /** Gives a session a function. */
  public static void register(SparkSession session, String name, Function<Arguments, Expression> function) {
    session
        .sessionState()
        .functionRegistry()
        .createOrReplaceTempFunction(
            name, arguments -> function.apply(new Arguments(CollectionConverters.asJava(arguments))), "java_udf");
  }
}
