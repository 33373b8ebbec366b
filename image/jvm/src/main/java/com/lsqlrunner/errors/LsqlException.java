package com.lsqlrunner.errors;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkThrowable;

/**
 * Base class of the errors that Python reads: a condition with parameters, like Spark's own errors.
 *
 * <p>It has neither a cause nor a stack trace. Spark serializes it from the task to the driver, where Spark's class
 * loader does not know the exception classes of clients: the whole exception would be lost.
 */
public class LsqlException extends RuntimeException implements SparkThrowable {
    private static final long serialVersionUID = 1L;

    private final Condition condition;

    @SuppressWarnings("serial") // a LinkedHashMap of strings
    private final Map<String, String> parameters;

    /**
     * Creates an error.
     *
     * @param parameters of the condition; no value is null
     */
    public LsqlException(Condition condition, Map<String, String> parameters) {
        super("[" + condition + "] " + condition.text(parameters), null, false, false);
        this.condition = condition;
        this.parameters = new LinkedHashMap<>(parameters);
    }

    @Override
    public final String getCondition() {
        return condition.name();
    }

    @Override
    public final Map<String, String> getMessageParameters() {
        return parameters;
    }

    /** Null: the default implementation searches Spark's own conditions. */
    @Override
    public final String getSqlState() {
        return null;
    }

    /** The parameter {@code reason}; null if there is none. */
    public final String reason() {
        return parameters.get("reason");
    }
}
