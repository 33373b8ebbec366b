package com.lsqlrunner.errors;

/** Throws checked exceptions that are not declared, as Scala does. */
public final class Unchecked {
    private Unchecked() {}

    /**
     * Throws the error. Callers write {@code throw Unchecked.thrown(error)}, so that the compiler sees the end of the
     * method.
     */
    public static RuntimeException thrown(Throwable error) {
        throw Unchecked.<RuntimeException>as(error);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E as(Throwable error) throws E {
        throw (E) error;
    }
}
