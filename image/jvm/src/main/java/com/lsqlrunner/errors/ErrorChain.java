package com.lsqlrunner.errors;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.PythonEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;

/**
 * An exception and its causes, outermost first, as conditions with parameters. All errors of the JVM reach Python in
 * this form. The JVM itself uses it to decide whether a record caused an error.
 */
@PythonEntry
public final class ErrorChain {
    /**
     * The condition and the text with which a message of Spark starts. If the exception object was lost on the way to
     * the driver, they are in the middle of another message.
     */
    private static final Pattern CONDITION = Pattern.compile("\\[([A-Z][A-Z0-9_]+(?:\\.[A-Z0-9_]+)*)]\\s*([^\\n]*)");

    /** Text that Spark appends to a reason: the SQL state, and advice about Spark SQL. */
    private static final Pattern ADVICE =
            Pattern.compile("\\s*SQLSTATE:|\\s+Use `?try_|\\s+If necessary set|\\s+To return NULL|\\s+Parse Mode:");

    private static final int MAX_LENGTH = 300;
    private static final ObjectMapper JSON = new ObjectMapper();

    private ErrorChain() {}

    /**
     * One exception.
     *
     * @param type the simple name of its class
     * @param condition without the sub-condition; empty for an exception without one
     * @param parameters of the condition; a value of a record is replaced, unless {@link ShownValue#isIncluded}
     * @param reason one line of text for people, without class names and stack trace, and without values of records
     *     unless {@link ShownValue#isIncluded}; empty if the exception has no message, or its message may contain
     *     values
     */
    public record Link(String type, String condition, Map<String, String> parameters, String reason) {}

    /**
     * The chain as a JSON array of objects with the fields of {@link Link}. If a store of files has failed, the last
     * object is its {@link StoreException}.
     */
    public static String json(Throwable error) throws JsonProcessingException {
        List<Link> links = of(error);
        StoreException ofStore = StoreException.causing(error);
        if (ofStore != null) {
            links.add(link(ofStore));
        }
        return JSON.writeValueAsString(links);
    }

    /** The exception and its causes. */
    public static List<Link> of(Throwable error) {
        List<Link> links = new ArrayList<>();
        for (Throwable each = error; each != null; each = each.getCause() == each ? null : each.getCause()) {
            links.add(link(each));
        }
        return links;
    }

    /** The stack traces of the exception and its causes; with messages only if error texts include values. */
    public static String stackTrace(Throwable error) {
        StringBuilder text = new StringBuilder();
        for (Throwable each = error; each != null; each = each.getCause() == each ? null : each.getCause()) {
            text.append(text.isEmpty() ? "" : "Caused by: ")
                    .append(ShownValue.choose(each.toString(), each.getClass().getName()))
                    .append('\n');
            for (StackTraceElement frame : each.getStackTrace()) {
                text.append("\tat ").append(frame).append('\n');
            }
        }
        return text.toString();
    }

    /** One exception without its causes. */
    public static Link link(Throwable error) {
        String text = String.valueOf(error.getMessage() == null ? "" : error.getMessage());
        SparkThrowable spark = error instanceof SparkThrowable own && own.getCondition() != null ? own : null;
        Matcher named = CONDITION.matcher(text);
        boolean isNamed = named.find();
        String condition = spark != null ? spark.getCondition() : isNamed ? named.group(1) : "";
        Map<String, String> parameters = spark == null ? Map.of() : spark.getMessageParameters();
        String reason;
        if (ShownValue.isIncluded() || error instanceof LsqlException) {
            reason = isNamed ? named.group(2) : text.lines().findFirst().orElse("");
        } else {
            parameters = ReasonWithoutValues.parameters(parameters);
            reason = condition.isEmpty()
                    ? ReasonWithoutValues.ofException(error)
                    : ReasonWithoutValues.ofCondition(condition, parameters);
        }
        String simple = condition.split("\\.", 2)[0];
        return new Link(error.getClass().getSimpleName(), simple, parameters, shortened(reason));
    }

    /** One line without Spark's advice. */
    public static String shortened(String text) {
        Matcher advice = ADVICE.matcher(text);
        String kept = (advice.find() ? text.substring(0, advice.start()) : text).strip();
        kept = kept.endsWith(".") ? kept.substring(0, kept.length() - 1) : kept;
        return kept.length() <= MAX_LENGTH ? kept : kept.substring(0, MAX_LENGTH);
    }
}
