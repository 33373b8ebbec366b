package com.lsqlrunner.policies;

import com.lsqlrunner.errors.Unchecked;
import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** The result of an {@link Attempt}. */
final class AttemptResult {
    private AttemptResult() {}

    /**
     * A value and an error, one of which is null.
     *
     * @param earlier an earlier error, which is kept; the value is then not computed. Null for none
     * @param value computes the value. An exception that {@code rules} does not list is thrown unchanged
     */
    static InternalRow of(Object earlier, Supplier<Object> value, RecordErrorRules rules) {
        if (earlier != null) {
            return new GenericInternalRow(new Object[] {null, earlier});
        }
        try {
            return new GenericInternalRow(new Object[] {value.get(), null});
        } catch (Throwable error) { // Scala does not declare what it throws
            RecordError recordError = rules.find(error);
            if (recordError == null) {
                throw Unchecked.thrown(error);
            }
            return new GenericInternalRow(new Object[] {null, row(recordError)});
        }
    }

    private static InternalRow row(RecordError error) {
        return new GenericInternalRow(new Object[] {
            UTF8String.fromString(error.phase()),
            UTF8String.fromString(error.code()),
            UTF8String.fromString(error.message())
        });
    }
}
