package com.lsqlrunner.errors;

import org.apache.spark.unsafe.types.UTF8String;

/**
 * Whether and how error texts show values of records. By default they do not show values: many people who can read
 * logs, {@code /stream} and the headers of dead letters may not read the topics.
 */
public final class ShownValue {
    /** The property of the JVM that makes error texts include values: {@code true} or {@code false}. */
    public static final String PROPERTY = "lsql.errors.includeValues";

    /** The text that replaces a value in a text of Spark. The log of the process masks secrets with the same text. */
    public static final String MASK = "***";

    private static final int MAX_LENGTH = 40;

    private ShownValue() {}

    /** Whether error texts include values of records. */
    public static boolean isIncluded() {
        return Boolean.getBoolean(PROPERTY); // read each time: errors are rare, and tests change it
    }

    /** The first of two texts if error texts include values, else the second. */
    public static String choose(String withValue, String withoutValue) {
        return isIncluded() ? withValue : withoutValue;
    }

    /** A text as the subject of a clause: {@code "x"}, or {@code a text of 1 bytes}. */
    public static String ofText(UTF8String text) {
        return isIncluded() ? quoted(text.toString()) : "a text of " + text.numBytes() + " bytes";
    }

    /** As {@link #ofText(UTF8String)}. */
    public static String ofText(String text) {
        return ofText(UTF8String.fromString(text));
    }

    /** A number as the subject of a clause: {@code 12}, or {@code a number}. */
    public static String ofNumber(Object number) {
        return isIncluded() ? String.valueOf(number) : "a number";
    }

    private static String quoted(String text) {
        String shown = text.length() > MAX_LENGTH ? text.substring(0, MAX_LENGTH) + "..." : text;
        return '"' + shown.replaceAll("\\s+", " ") + '"';
    }
}
