package com.lsqlrunner.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/**
 * The result of an attempt. That Spark computes the value within the attempt is tested in
 * tests/streams/test_error_policies.py.
 */
class AttemptResultTest {
    private static final String RULES = """
      {"conditions": {"CAST_OVERFLOW": ["write", "RECORD_REFUSED"]}, "never": ["LSQL_GROUP_TOO_LARGE"]}
      """;

    private static InternalRow attempt(Object earlier, Supplier<Object> value) {
        return AttemptResult.of(earlier, value, RecordErrorRules.of(RULES));
    }

    private static Supplier<Object> throwing(Throwable error) {
        return () -> {
            throw AttemptResultTest.<RuntimeException>unchecked(error);
        };
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException unchecked(Throwable error) throws E {
        throw (E) error;
    }

    @Test
    void aComputedValueHasNoError() {
        InternalRow result = attempt(null, () -> 7);

        assertEquals(7, result.getInt(0));
        assertTrue(result.isNullAt(1));
    }

    @Test
    void aNullIsAValue() {
        InternalRow result = attempt(null, () -> null);

        assertTrue(result.isNullAt(0));
        assertTrue(result.isNullAt(1));
    }

    @Test
    void aListedExceptionIsTheErrorAndThereIsNoValue() {
        InternalRow result =
                attempt(null, throwing(new ArithmeticException("[CAST_OVERFLOW] too large. SQLSTATE: 22003")));

        assertTrue(result.isNullAt(0));
        InternalRow error = result.getStruct(1, 3);
        assertEquals("write", error.getString(0));
        assertEquals("RECORD_REFUSED", error.getString(1));
        assertEquals("CAST_OVERFLOW: too large", error.getString(2));
    }

    @Test
    void anEarlierErrorIsKeptAndTheValueIsNotComputed() {
        InternalRow error = new GenericInternalRow(
                new Object[] {UTF8String.fromString("read"), UTF8String.fromString("C"), UTF8String.fromString("m")});

        InternalRow result = attempt(error, () -> fail("computed"));

        assertTrue(result.isNullAt(0));
        assertSame(error, result.getStruct(1, 3));
    }

    @Test
    void anExceptionThatIsNotAnErrorOfTheRecordIsThrownUnchanged() {
        for (Throwable error : List.of(
                new IllegalStateException("[LSQL_GROUP_TOO_LARGE] more than 16 MiB"),
                new IOException("a checked one, which Scala does not declare"),
                new OutOfMemoryError("[CAST_OVERFLOW] not that"))) {
            assertSame(error, assertThrows(error.getClass(), () -> attempt(null, throwing(error))));
        }
    }
}
