package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.sink.SinkException;
import java.sql.SQLException;

/** What the SQLSTATE of an error means; source: PostgreSQL's documentation, appendix "Error Codes". */
final class SqlErrors {
    private SqlErrors() {}

    static SinkException of(SQLException error) {
        SQLException cause = root(error);
        return SinkException.of(condition(cause), words(cause));
    }

    /** Of a question before any row: one that concurrent makers of a table collide in is no fault of a row. */
    static SinkException beforeRows(SQLException error) {
        SQLException cause = root(error);
        Condition condition = condition(cause);
        return SinkException.of(
                condition == Condition.LSQL_SINK_ROW_REFUSED ? Condition.LSQL_SINK_FAILED : condition, words(cause));
    }

    /** Whether the server refuses the row itself, as it would any time. */
    static boolean isOfRow(SQLException error) {
        return condition(root(error)) == Condition.LSQL_SINK_ROW_REFUSED;
    }

    static String words(SQLException error) {
        String text =
                String.valueOf(root(error).getMessage()).lines().findFirst().orElse("");
        return text.replaceFirst("^(ERROR|FATAL): ", "");
    }

    /** Of a batch, the error of the statement and not that of the batch. */
    private static SQLException root(SQLException error) {
        SQLException next = error.getNextException();
        return error instanceof java.sql.BatchUpdateException && next != null ? next : error;
    }

    private static Condition condition(SQLException error) {
        String state = String.valueOf(error.getSQLState());
        return switch (state) {
            case "57P01", "57P02", "57P03" -> Condition.LSQL_SINK_UNREACHABLE;
            case "42501", "3D000", "25006" -> Condition.LSQL_SINK_REFUSED;
            case "42P01", "42703", "42P10", "3F000" -> Condition.LSQL_SINK_TABLE_MISMATCH;
            case "42804", "42846", "P0001", "21000" -> Condition.LSQL_SINK_ROW_REFUSED;
            default ->
                switch (state.length() < 2 ? "" : state.substring(0, 2)) {
                    case "08", "53", "58" -> Condition.LSQL_SINK_UNREACHABLE;
                    case "28" -> Condition.LSQL_SINK_REFUSED;
                    case "22", "23" -> Condition.LSQL_SINK_ROW_REFUSED;
                    default -> Condition.LSQL_SINK_FAILED;
                };
        };
    }
}
