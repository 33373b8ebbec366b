package com.lsqlrunner.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.errors.MalformedRecordException;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RecordErrorRulesTest {
    private static final RecordErrorRules RULES = RecordErrorRules.of("""
          {"conditions": {"CAST_INVALID_INPUT": ["read", "RECORD_REFUSED"],
                          "USER_RAISED_EXCEPTION": ["read", "RECORD_REFUSED"],
                          "MALFORMED_RECORD_IN_PARSING": ["read", "RECORD_MALFORMED"],
                          "LSQL_RECORD_TOO_LARGE": ["write", "RECORD_TOO_LARGE"]},
           "never": ["LSQL_REGISTRY_UNREACHABLE", "LSQL_GROUP_TOO_LARGE"]}
          """);

    private static RecordError refused(String message) {
        return new RecordError("read", "RECORD_REFUSED", message);
    }

    @Test
    void aListedConditionIsAnErrorOfTheRecordWithOneLineOfReason() {
        Throwable error = new ArithmeticException(
                "[CAST_INVALID_INPUT] The value 'x' is malformed. Use `try_cast` to get NULL. SQLSTATE: 22018\n== SQL ==\nat");

        assertEquals(refused("CAST_INVALID_INPUT: The value 'x' is malformed"), RULES.find(error));
    }

    @Test
    void aWrappedErrorIsFound() {
        Throwable cause = new RuntimeException("[USER_RAISED_EXCEPTION.PLAIN] no");

        assertEquals(refused("USER_RAISED_EXCEPTION: no"), RULES.find(new RuntimeException("wrapped", cause)));
    }

    @Test
    void malformedBytesAreAnErrorOfReading() {
        RecordError error = RULES.find(new MalformedRecordException("expected 4 bytes, found 3"));

        assertEquals(
                new RecordError("read", "RECORD_MALFORMED", "MALFORMED_RECORD_IN_PARSING: expected 4 bytes, found 3"),
                error);
    }

    @Test
    void aRecordThatIsTooLargeIsAnErrorOfWriting() {
        Map<String, String> sizes = Map.of("bytes", "1234", "limit_bytes", "1000");

        RecordError error = RULES.find(new LsqlException(Condition.LSQL_RECORD_TOO_LARGE, sizes));

        assertEquals(
                new RecordError(
                        "write",
                        "RECORD_TOO_LARGE",
                        "LSQL_RECORD_TOO_LARGE: the record has 1234 bytes, its topic allows 1000"),
                error);
    }

    @Test
    void otherErrorsAreNotErrorsOfTheRecord() {
        assertNull(RULES.find(new RuntimeException("[LSQL_REGISTRY_UNREACHABLE] away")));
        assertNull(RULES.find(new RuntimeException("[SOMETHING_ELSE] odd")));
        assertNull(RULES.find(new NullPointerException()));
        assertNull(RULES.find(new OutOfMemoryError("[CAST_INVALID_INPUT] not that")));
        assertNull(RULES.find(new RuntimeException("[CAST_INVALID_INPUT] x", new InterruptedException())));
        Throwable registry = new RuntimeException("[LSQL_REGISTRY_UNREACHABLE] away");
        assertNull(RULES.find(new RuntimeException("[USER_RAISED_EXCEPTION] within a function", registry)));
    }
}
