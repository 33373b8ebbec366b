package com.lsqlrunner.errors;

import com.lsqlrunner.expression.Functions;
import org.apache.spark.sql.catalyst.expressions.KnownNotNull;
import org.apache.spark.sql.classic.SparkSession;

/** A value that is never null, though Spark takes it for one that may be. */
public final class NotNull {
  private NotNull() {}

  /** Gives a session the function {@code name(value)}. */
  public static void register(SparkSession session, String name) {
    Functions.register(session, name, arguments -> new KnownNotNull(arguments.first()));
  }
}
