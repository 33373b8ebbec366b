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
     * A value and an error, one of the two null.
     *
     * @param earlier an earlier error, which stays: the value is not computed then; null for none
     * @param value may throw anything; what {@code rules} does not list is thrown as it is
     */
    static InternalRow of(Object earlier, Supplier<Object> value, RecordErrorRules rules) {
        if (earlier != null) {
            return new GenericInternalRow(new Object[] {null, earlier});
        }
        try {
            return new GenericInternalRow(new Object[] {value.get(), null});
        } catch (Throwable error) { // Scala does not declare what it throws
            RecordError found = rules.find(error);
            if (found == null) {
                throw Unchecked.thrown(error);
            }
            return new GenericInternalRow(new Object[] {null, row(found)});
        }
    }

    private static InternalRow row(RecordError error) {
        return new GenericInternalRow(new Object[] {
            UTF8String.fromString(error.side()),
            UTF8String.fromString(error.code()),
            UTF8String.fromString(error.message())
        });
    }
}
