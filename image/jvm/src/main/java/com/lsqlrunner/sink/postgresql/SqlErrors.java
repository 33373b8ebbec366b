package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.ShownValue;
import com.lsqlrunner.sink.SinkException;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;

/** Maps the SQLSTATE of an error to a condition. Source: PostgreSQL's documentation, appendix "Error Codes". */
final class SqlErrors {
    /** The classes of errors whose messages name no values: connections, constraints, logins, syntax, resources ... */
    private static final Set<String> WITHOUT_VALUES =
            Set.of("08", "21", "23", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58");

    private static final Map<String, String> DATA_ERRORS = Map.of(
            "22001", "a text is too long for its column",
            "22003", "a number is out of the range of its column",
            "22007", "a text is not a valid date or time",
            "22008", "a date or time is out of range",
            "22021", "a text has a character that the database cannot store",
            "22P02", "a text is not valid for the type of its column",
            "22P05", "a text has a character that the database cannot store",
            "P0001", "a function or trigger of the database raised an error");

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

    /**
     * The first line of the server's message; further lines may show the row. If error texts do not include values of
     * records, the line is replaced unless it names only tables, columns and constraints.
     */
    static String message(SQLException error) {
        SQLException cause = root(error);
        String text = String.valueOf(cause.getMessage());
        if (ShownValue.isIncluded() || hasNoValues(cause, text)) {
            return text.lines().findFirst().orElse("").replaceFirst("^(ERROR|FATAL): ", "");
        }
        String state = String.valueOf(cause.getSQLState());
        String meaning = DATA_ERRORS.getOrDefault(state, state.startsWith("22") ? "a value is not valid" : "an error");
        return meaning + " (SQLSTATE " + state + ")";
    }

    /** Functions and triggers raise errors of any class, with texts of their own. The driver names where they did. */
    private static boolean hasNoValues(SQLException error, String text) {
        String state = String.valueOf(error.getSQLState());
        return WITHOUT_VALUES.contains(state.length() < 2 ? "" : state.substring(0, 2))
                && !(error instanceof java.sql.BatchUpdateException)
                && text.lines().noneMatch(line -> line.startsWith("  Where: "));
    }

    /** The error of the statement instead of the error of its batch. */
    private static SQLException root(SQLException error) {
        SQLException next = error.getNextException();
        return error instanceof java.sql.BatchUpdateException && next != null ? next : error;
    }

    private static Condition condition(SQLException error) {
        String state = String.valueOf(error.getSQLState());
        // A certificate for another host has no SQLSTATE of its own; the message contains the name of the driver's
        // class.
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
