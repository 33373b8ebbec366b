package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.sink.SinkFailure;
import com.lsqlrunner.sink.SinkFailure.Kind;
import java.sql.SQLException;

/** What the SQLSTATE of an error means; source: PostgreSQL's documentation, appendix "Error Codes". */
final class Failures {
  private Failures() {}

  static SinkFailure of(SQLException error) {
    SQLException cause = root(error);
    return SinkFailure.of(kind(cause), words(cause));
  }

  /** Of a question before any row: one that concurrent makers of a table collide in is no fault of a row. */
  static SinkFailure beforeRows(SQLException error) {
    SQLException cause = root(error);
    Kind kind = kind(cause);
    return SinkFailure.of(kind == Kind.ROW ? Kind.PASSING : kind, words(cause));
  }

  /** Whether the server refuses the row itself, as it would any time. */
  static boolean isOfRow(SQLException error) {
    return kind(root(error)) == Kind.ROW;
  }

  static String words(SQLException error) {
    String text = String.valueOf(root(error).getMessage()).lines().findFirst().orElse("");
    return text.replaceFirst("^(ERROR|FATAL): ", "");
  }

  /** Of a batch, the error of the statement and not that of the batch. */
  private static SQLException root(SQLException error) {
    SQLException next = error.getNextException();
    return error instanceof java.sql.BatchUpdateException && next != null ? next : error;
  }

  private static Kind kind(SQLException error) {
    String state = String.valueOf(error.getSQLState());
    return switch (state) {
      case "57P01", "57P02", "57P03" -> Kind.UNREACHABLE;
      case "42501", "3D000", "25006" -> Kind.REFUSED;
      case "42P01", "42703", "42P10", "3F000" -> Kind.MISFIT;
      case "42804", "42846", "P0001", "21000" -> Kind.ROW;
      default ->
          switch (state.length() < 2 ? "" : state.substring(0, 2)) {
            case "08", "53", "58" -> Kind.UNREACHABLE;
            case "28" -> Kind.REFUSED;
            case "22", "23" -> Kind.ROW;
            default -> Kind.PASSING;
          };
    };
  }
}
