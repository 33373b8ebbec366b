package com.lsqlrunner.errors;

/**
 * The path of a value inside a key or value: {@code address.lines[2].zip}; {@code {}} stands for an entry of a map,
 * whose key is a value of the record. The path of the whole key or value is empty.
 */
public final class FieldPath {
    private FieldPath() {}

    /** The path of a value at {@code path} inside the field {@code name}, as seen from outside of the field. */
    public static String inField(String name, String path) {
        boolean isMember = !path.isEmpty() && path.charAt(0) != '[' && path.charAt(0) != '{';
        return isMember && !name.isEmpty() ? name + "." + path : name + path;
    }

    /** The path of a value at {@code path} inside an item of an array, counted from 0. */
    public static String inItem(int index, String path) {
        return inField("[" + index + "]", path);
    }

    /** The path of a value at {@code path} inside an entry of a map. Its key is shown if error texts have values. */
    public static String inEntry(Object key, String path) {
        return inField(ShownValue.choose(String.valueOf(key), "{}"), path);
    }

    /** A reason that begins with the field: {@code field address.zip: a string is not UTF-8}. */
    public static String before(String reason, String path) {
        return path.isEmpty() ? reason : "field " + path + ": " + reason;
    }
}
