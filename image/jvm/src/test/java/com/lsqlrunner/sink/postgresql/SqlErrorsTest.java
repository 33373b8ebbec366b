package com.lsqlrunner.sink.postgresql;

import static com.lsqlrunner.errors.HiddenValues.hiding;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.errors.Condition;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Errors of PostgreSQL with and without the values of rows. The messages come from its server and driver. */
class SqlErrorsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "22P02 | ERROR: invalid input syntax for type uuid: \"s3cr3t\" | a text is not valid for the type of its column"
                        + " (SQLSTATE 22P02)",
                "22003 | ERROR: value \"s3cr3t\" is out of range for type integer | a number is out of the range of its column"
                        + " (SQLSTATE 22003)",
                "22023 | ERROR: time zone \"s3cr3t\" not recognized | a value is not valid (SQLSTATE 22023)",
                "P0001 | ERROR: s3cr3t is bad | a function or trigger of the database raised an error (SQLSTATE P0001)",
                "XX000 | ERROR: s3cr3t | an error (SQLSTATE XX000)",
                "23505 | ERROR: duplicate key value violates unique constraint \"t_pkey\"\\n  Detail: Key (id)=(s3cr3t) already"
                        + " exists. | duplicate key value violates unique constraint \"t_pkey\"",
                "23514 | ERROR: s3cr3t is bad\\n  Where: PL/pgSQL function f() line 3 at RAISE | an error (SQLSTATE 23514)",
                "28P01 | FATAL: password authentication failed for user \"lsql\" | password authentication failed for user"
                        + " \"lsql\""
            })
    void aMessageWithAValueIsReplacedByItsMeaning(String state, String message, String expected) {
        SQLException error = new SQLException(message.replace("\\n", "\n"), state);

        assertEquals(expected, hiding(() -> SqlErrors.message(error)));
    }

    @Test
    void withValuesTheMessageIsItsFirstLine() {
        SQLException error = new SQLException("ERROR: invalid: \"x\"\n  Where: portal", "22P02");

        assertEquals("invalid: \"x\"", SqlErrors.message(error));
    }

    @Test
    void theStatementOfABatchIsNotShown() {
        BatchUpdateException batch =
                new BatchUpdateException("Batch entry 0 INSERT ... ('s3cr3t') was aborted", "23505", null);

        assertEquals("an error (SQLSTATE 23505)", hiding(() -> SqlErrors.message(batch)));
        batch.setNextException(new SQLException("ERROR: numeric field overflow", "22003"));
        assertEquals(
                "a number is out of the range of its column (SQLSTATE 22003)", hiding(() -> SqlErrors.message(batch)));
        assertEquals(Condition.LSQL_SINK_ROW_REFUSED.name(), SqlErrors.of(batch).getCondition());
    }
}
