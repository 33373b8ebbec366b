package com.lsqlrunner.errors;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowableHelper;

/**
 * The reasons of exceptions of Spark and of libraries, without the values of records.
 *
 * <p>For a Spark condition, the reason is the template of the message with the parameters that never contain values:
 * types, names, sizes. A message without a condition is a reason only if the class that throws it has no values of
 * records.
 */
final class ReasonWithoutValues {
    /** The parameters of Spark's conditions that are not values of records. */
    private static final Set<String> SHOWN = Set.of(
            "sourceType",
            "targetType",
            "dataType",
            "inputType",
            "jsonType",
            "precision",
            "scale",
            "symbol",
            "functionName",
            "function",
            "parameter",
            "config",
            "ansiConfig",
            "docroot",
            "arraySize",
            "groupCount",
            "actualLength",
            "maxRoundedArrayLength",
            "failFastMode",
            "id",
            "runId",
            "batchId",
            "checkpointLocation",
            "stateStoreId",
            "errorMessage"); // raise_error, whose texts are ours

    /** Texts for conditions whose template is only a parameter. */
    private static final Map<String, String> TEXTS = Map.of(
            "CANNOT_PARSE_TIMESTAMP", "The text does not match the pattern of the timestamp",
            "DATETIME_FIELD_OUT_OF_BOUNDS", "A field of a date or time is out of range",
            "ARITHMETIC_OVERFLOW", "The result is out of the range of its type",
            "DATETIME_OVERFLOW", "The date or time is out of range");

    /** Beginnings of the names of classes that have no values of records: clients, files, Spark's streaming engine. */
    private static final List<String> WITHOUT_VALUES = List.of(
            "com.lsqlrunner.",
            "org.apache.kafka.",
            "org.apache.hadoop.",
            "org.rocksdb.",
            "org.apache.spark.memory.",
            "org.apache.spark.rpc.",
            "org.apache.spark.scheduler.",
            "org.apache.spark.storage.",
            "org.apache.spark.sql.execution.streaming.",
            "java.io.",
            "java.net.",
            "java.nio.",
            "java.security.",
            "java.util.concurrent.",
            "javax.net.",
            "javax.security.",
            "org.ietf.jgss.",
            "sun.nio.",
            "sun.security.");

    private static final Pattern PARAMETER = Pattern.compile("<([a-zA-Z0-9_-]+)>");

    /** The class name of an exception in a message, followed by the message of that exception. */
    private static final Pattern NESTED = Pattern.compile("\\b(?:[a-z]\\w*\\.)+[A-Z][\\w$]*(?:Exception|Error)\\b");

    private ReasonWithoutValues() {}

    /** The parameters of a condition. Values are replaced. */
    static Map<String, String> parameters(Map<String, String> parameters) {
        Map<String, String> shown = new LinkedHashMap<>();
        parameters.forEach((name, value) -> shown.put(name, SHOWN.contains(name) ? value : ShownValue.MASK));
        return shown;
    }

    /**
     * The text of a condition; empty for an unknown one.
     *
     * @param condition with its sub-condition
     * @param parameters the result of {@link #parameters}; missing parameters are replaced
     */
    static String ofCondition(String condition, Map<String, String> parameters) {
        String own = TEXTS.get(condition.split("\\.", 2)[0]);
        Matcher slots = PARAMETER.matcher(own == null ? template(condition) : own);
        return slots.replaceAll(
                slot -> Matcher.quoteReplacement(parameters.getOrDefault(slot.group(1), ShownValue.MASK)));
    }

    private static String template(String condition) {
        for (Condition each : Condition.values()) {
            if (each.name().equals(condition)) {
                return each.template();
            }
        }
        try {
            return SparkThrowableHelper.errorReader().getMessageTemplate(condition);
        } catch (Exception | AssertionError error) { // Scala does not declare what it throws
            return "";
        }
    }

    /** The first line of the message of an exception without a condition; empty if it may contain a value. */
    static String ofException(Throwable error) {
        if (error instanceof JsonProcessingException json && !(error instanceof StreamConstraintsException)) {
            return ofJson(json);
        }
        String message = String.valueOf(error.getMessage() == null ? "" : error.getMessage());
        String line = message.lines().findFirst().orElse("");
        Matcher nested = NESTED.matcher(line);
        return hasNoValues(error) ? nested.find() ? line.substring(0, nested.start()) : line : "";
    }

    private static String ofJson(JsonProcessingException error) {
        long at = error.getLocation() == null ? -1 : error.getLocation().getByteOffset();
        String place = at < 0 ? "" : ", at byte " + at;
        if (error instanceof JsonEOFException) {
            return "the JSON is incomplete" + place;
        }
        return (error instanceof JsonParseException ? "it is not JSON" : "a value does not have the declared type")
                + place;
    }

    private static boolean hasNoValues(Throwable error) {
        StackTraceElement[] trace = error.getStackTrace();
        String type = error.getClass().getName();
        String origin = trace.length == 0 ? type : trace[0].getClassName();
        return error instanceof NullPointerException
                || error instanceof ClassCastException
                || error instanceof VirtualMachineError
                || error instanceof LinkageError
                || error instanceof StreamConstraintsException
                || error.getClass() == ArithmeticException.class && origin.startsWith("java.")
                || WITHOUT_VALUES.stream().anyMatch(origin::startsWith)
                || WITHOUT_VALUES.stream().anyMatch(type::startsWith);
    }
}
