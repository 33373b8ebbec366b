package com.lsqlrunner.function;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.ErrorChain;
import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.errors.ShownValue;
import java.util.Map;

/** An error of a user-defined function. It has no cause: Spark's class loader may not know the class of the cause. */
final class FunctionException extends LsqlException {
    private static final long serialVersionUID = 1L;

    private FunctionException(Condition condition, String function, String reason) {
        super(condition, Map.of("reason", "the function " + function + " " + reason));
    }

    /** The function throws an exception for a record. */
    static FunctionException thrown(String function, String className, Throwable cause) {
        // The message of the class may contain the values of its arguments.
        String message = ShownValue.choose(messageOf(cause), "");
        return new FunctionException(
                Condition.LSQL_FUNCTION_FAILED, function, "throws " + text(cause, message, className));
    }

    /**
     * The function returns a value that its declaration does not allow, or a record has a value that the function
     * cannot take.
     */
    static FunctionException invalidValue(String function, String reason) {
        return new FunctionException(Condition.LSQL_FUNCTION_FAILED, function, reason);
    }

    /** The class cannot be loaded or created. No record is processed yet: the message of the cause has no values. */
    static FunctionException unusable(String function, String className, Throwable cause) {
        return unusable(function, className, text(cause, messageOf(cause), className));
    }

    /**
     * While a record is processed, a class that the function needs is missing, does not fit, or cannot be initialized.
     */
    static FunctionException unlinked(String function, String className, LinkageError error) {
        Throwable cause =
                error instanceof ExceptionInInitializerError && error.getCause() != null ? error.getCause() : error;
        String message = messageOf(cause);
        return unusable(
                function,
                className,
                text(cause, namesClassesOnly(error) ? message : ShownValue.choose(message, ""), className));
    }

    private static FunctionException unusable(String function, String className, String reason) {
        return new FunctionException(
                Condition.LSQL_FUNCTION_UNUSABLE, function, "of the class " + className + ": " + reason);
    }

    /**
     * Whether the JVM writes only versions and names of classes and members into the message of such an error. Messages
     * from an initializer, a native library, or a class that is generated from a value may contain values.
     */
    private static boolean namesClassesOnly(LinkageError error) {
        return error instanceof NoClassDefFoundError
                || error instanceof IncompatibleClassChangeError
                || error instanceof UnsupportedClassVersionError
                || error instanceof VerifyError;
    }

    private static String messageOf(Throwable cause) {
        String message = cause.getMessage() == null ? "" : cause.getMessage();
        return ErrorChain.shortened(message.lines().findFirst().orElse(""));
    }

    /** The exception with a message, and the innermost line of the class of the function in its trace. */
    private static String text(Throwable cause, String message, String className) {
        StringBuilder text = new StringBuilder(cause.getClass().getSimpleName());
        if (!message.isEmpty()) {
            text.append(": ").append(message);
        }
        for (StackTraceElement frame : cause.getStackTrace()) {
            if (frame.getClassName().equals(className) && frame.getFileName() != null && frame.getLineNumber() > 0) {
                text.append(" (").append(frame.getFileName()).append(':').append(frame.getLineNumber());
                return text.append(')').toString();
            }
        }
        return text.toString();
    }
}
