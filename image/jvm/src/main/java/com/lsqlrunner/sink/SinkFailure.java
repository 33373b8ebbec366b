package com.lsqlrunner.sink;

/**
 * Why a sink did not take rows. The message is one line: {@code [LSQL_SINK]} and a JSON object, since it reaches its
 * reader as a part of a longer text.
 */
public final class SinkFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int LONGEST = 300;

  /** What a program decides by. */
  public enum Kind {
    /** Nobody answers, or who answers cannot serve now. */
    UNREACHABLE,
    /** The server refuses this client: credentials, rights, a database that is not there. */
    REFUSED,
    /** The target is not there or has other columns. */
    MISFIT,
    /** The server refuses this row, and would again. */
    ROW,
    /** It may pass: a deadlock, a fault of the server. */
    PASSING
  }

  private final transient Kind kind;

  private SinkFailure(Kind kind, String json) {
    // Without causes: Spark carries it from the task to the driver in bytes, and a client's own exceptions are of classes
    // that Spark's loader does not know. It would then tell nothing at all.
    super("[LSQL_SINK] " + json, null, false, true);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }

  public static SinkFailure of(Kind kind, String why) {
    return new SinkFailure(kind, "{\"kind\":\"" + kind + "\",\"why\":" + quoted(why) + "}");
  }

  /** A row that the server refuses, with its place in Kafka, or its key where it is the result of an aggregate. */
  public static SinkFailure row(SinkTable table, SinkRow row, String why) {
    StringBuilder json = new StringBuilder("{\"kind\":\"ROW\",\"why\":").append(quoted(why));
    if (row.topic() != null) {
      json.append(",\"topic\":").append(quoted(row.topic()));
      json.append(",\"partition\":").append(row.partition()).append(",\"offset\":").append(row.offset());
    } else {
      StringBuilder text = new StringBuilder();
      for (int place = 0; place < table.columns().size(); place++) {
        boolean shown = table.key().isEmpty() || table.key().contains(table.columns().get(place));
        if (shown) {
          text.append(text.length() == 0 ? "" : ", ").append(table.columns().get(place)).append('=');
          text.append(row.values()[place]);
        }
      }
      json.append(",\"row\":").append(quoted(text.toString()));
    }
    return new SinkFailure(Kind.ROW, json.append('}').toString());
  }

  private static String quoted(String text) {
    String line = String.valueOf(text).replaceAll("\\s+", " ").strip();
    line = line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
    StringBuilder json = new StringBuilder("\"");
    for (char letter : line.toCharArray()) {
      if (letter == '"' || letter == '\\') {
        json.append('\\').append(letter);
      } else if (letter < ' ' || letter > '~') {
        json.append(String.format("\\u%04x", (int) letter));
      } else {
        json.append(letter);
      }
    }
    return json.append('"').toString();
  }
}
