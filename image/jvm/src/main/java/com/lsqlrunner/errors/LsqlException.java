package com.lsqlrunner.errors;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkThrowable;

/**
 * Every error that this module throws for Python to read: a condition with parameters, as Spark's own errors have.
 *
 * <p>It has neither a cause nor a trace. Spark carries it from the task to the driver in bytes, and a client's own
 * exceptions are of classes that Spark's loader does not know: nothing at all would arrive.
 */
public class LsqlException extends RuntimeException implements SparkThrowable {
    private static final long serialVersionUID = 1L;

    private final Condition condition;

    @SuppressWarnings("serial") // a LinkedHashMap of strings
    private final Map<String, String> parameters;

    /**
     * An error.
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

    /** Spark looks it up among its own conditions. */
    @Override
    public final String getSqlState() {
        return null;
    }

    /** What the parameter {@code reason} holds; null for none. */
    public final String reason() {
        return parameters.get("reason");
    }
}
