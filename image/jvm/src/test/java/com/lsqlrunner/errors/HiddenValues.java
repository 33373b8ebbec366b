package com.lsqlrunner.errors;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.function.Supplier;
import org.junit.jupiter.api.function.Executable;

/**
 * Runs code while error texts do not include values of records, as by default. In all other tests they include them.
 */
public final class HiddenValues {
    /** A value that no error text may include. */
    public static final String SECRET = "s3cr3t";

    /** A number that no error text may include. */
    public static final long NUMBER = 987_654_321_987L;

    private HiddenValues() {}

    /** The result of a call. */
    public static <T> T hiding(Supplier<T> call) {
        String before = System.getProperty(ShownValue.PROPERTY);
        System.clearProperty(ShownValue.PROPERTY);
        try {
            return call.get();
        } finally {
            if (before != null) {
                System.setProperty(ShownValue.PROPERTY, before);
            }
        }
    }

    /** The reason with which a call fails. It includes neither {@link #SECRET} nor {@link #NUMBER}. */
    public static String reason(Executable call) {
        String reason = hiding(() -> assertThrows(LsqlException.class, call).reason());
        assertFalse(reason.contains(SECRET) || reason.contains(String.valueOf(NUMBER)), reason);
        return reason;
    }
}
