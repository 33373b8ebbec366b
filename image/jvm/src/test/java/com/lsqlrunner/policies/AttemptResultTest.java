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
 * What an attempt does to a value. That Spark computes the value within it, tests/streams/test_error_policies.py shows.
 */
class AttemptResultTest {
    private static final String RULES = """
      {"conditions": {"CAST_OVERFLOW": ["write", "RECORD_REFUSED"]}, "never": ["LSQL_GROUP_TOO_LARGE"]}
      """;

    private static InternalRow tried(Object failed, Supplier<Object> value) {
        return AttemptResult.of(failed, value, RecordErrorRules.of(RULES));
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
    void aValueThatCanBeHadHasNoError() {
        InternalRow found = tried(null, () -> 7);

        assertEquals(7, found.getInt(0));
        assertTrue(found.isNullAt(1));
    }

    @Test
    void aNullIsAValue() {
        InternalRow found = tried(null, () -> null);

        assertTrue(found.isNullAt(0));
        assertTrue(found.isNullAt(1));
    }

    @Test
    void aFaultIsTheErrorAndThereIsNoValue() {
        InternalRow found =
                tried(null, throwing(new ArithmeticException("[CAST_OVERFLOW] too large. SQLSTATE: 22003")));

        assertTrue(found.isNullAt(0));
        InternalRow error = found.getStruct(1, 3);
        assertEquals("write", error.getString(0));
        assertEquals("RECORD_REFUSED", error.getString(1));
        assertEquals("CAST_OVERFLOW: too large", error.getString(2));
    }

    @Test
    void anEarlierErrorStaysAndTheValueIsNotComputed() {
        InternalRow error = new GenericInternalRow(
                new Object[] {UTF8String.fromString("read"), UTF8String.fromString("C"), UTF8String.fromString("m")});

        InternalRow found = tried(error, () -> fail("computed"));

        assertTrue(found.isNullAt(0));
        assertSame(error, found.getStruct(1, 3));
    }

    @Test
    void whatNoRecordIsAtFaultForIsThrownAsItIs() {
        for (Throwable error : List.of(
                new IllegalStateException("[LSQL_GROUP_TOO_LARGE] more than 16 MiB"),
                new IOException("a checked one, which Scala does not declare"),
                new OutOfMemoryError("[CAST_OVERFLOW] not that"))) {
            assertSame(error, assertThrows(error.getClass(), () -> tried(null, throwing(error))));
        }
    }
}
