package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.sink.SinkException;
import java.sql.SQLException;

/** Maps the SQLSTATE of an error to a condition. Source: PostgreSQL's documentation, appendix "Error Codes". */
final class SqlErrors {
    private SqlErrors() {}

    static SinkException of(SQLException error) {
        SQLException cause = root(error);
        String fault = SinkException.certificateFault(error);
        return fault == null
                ? SinkException.of(condition(cause), message(cause))
                : SinkException.of(Condition.LSQL_SINK_CERTIFICATE_UNTRUSTED, fault);
    }

    /**
     * The error of a statement before the first row. Tasks that create a table at the same time may conflict, which is
     * not an error of a row.
     */
    static SinkException beforeRows(SQLException error) {
        SQLException cause = root(error);
        Condition condition = condition(cause);
        return SinkException.of(
                condition == Condition.LSQL_SINK_ROW_REFUSED ? Condition.LSQL_SINK_FAILED : condition, message(cause));
    }

    /** Whether the server refuses the row itself, and would refuse it again. */
    static boolean isOfRow(SQLException error) {
        return condition(root(error)) == Condition.LSQL_SINK_ROW_REFUSED;
    }

    static String message(SQLException error) {
        String text =
                String.valueOf(root(error).getMessage()).lines().findFirst().orElse("");
        return text.replaceFirst("^(ERROR|FATAL): ", "");
    }

    /** The error of the statement instead of the error of its batch. */
    private static SQLException root(SQLException error) {
        SQLException next = error.getNextException();
        return error instanceof java.sql.BatchUpdateException && next != null ? next : error;
    }

    private static Condition condition(SQLException error) {
        String state = String.valueOf(error.getSQLState());
        // The certificate of another host has no SQLSTATE of its own; the message has the name of the driver's class.
        if (state.startsWith("08") && String.valueOf(error.getMessage()).contains("HostnameVerifier")) {
            return Condition.LSQL_SINK_CERTIFICATE_UNTRUSTED;
        }
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
