package com.lsqlrunner.errors;

/** Throws exceptions that Java wants to be declared, as Scala throws them undeclared. */
public final class Unchecked {
    private Unchecked() {}

    /** Throws the error. {@code throw Unchecked.thrown(error)} shows the compiler that nothing follows. */
    public static RuntimeException thrown(Throwable error) {
        throw Unchecked.<RuntimeException>as(error);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> E as(Throwable error) throws E {
        throw (E) error;
    }
}
