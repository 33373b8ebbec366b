package com.lsqlrunner.function;

/**
 * A result that does not have the declared type. The message completes "the function X": {@code returns a Long ...}.
 */
final class InvalidResultException extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param path of the value inside the result; empty for the result itself
     */
    InvalidResultException(String path, String reason) {
        super(reason + (path.isEmpty() ? "" : " (" + (path.startsWith(".") ? path.substring(1) : path) + ")"));
    }
}
