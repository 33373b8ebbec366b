package com.lsqlrunner.avro;

/** A schema that cannot be used here, or a value that does not fit one. The message is for people. */
public final class Misfit extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public Misfit(String reason) {
    super(reason);
  }

  /** A value that the schema cannot hold, found while records are written. */
  public static Misfit ofValue(String path, String reason) {
    return new Misfit("[LSQL_VALUE_DOES_NOT_FIT_SCHEMA] " + reason + (path.isEmpty() ? "" : ": field " + path));
  }
}
