package com.lsqlrunner.errors;

import java.util.Map;

/** A schema that cannot be used, or a value that does not fit its schema. */
public final class SchemaMismatchException extends LsqlException {
    private static final long serialVersionUID = 1L;

    private SchemaMismatchException(Condition condition, String reason) {
        super(condition, Map.of("reason", reason));
    }

    /** A schema that cannot be used, or that cannot hold all values of a type. */
    public SchemaMismatchException(String reason) {
        this(Condition.LSQL_SCHEMA_UNUSABLE, reason);
    }

    /**
     * A value that its schema cannot hold, detected while records are written.
     *
     * @param path the path of the field; empty for the whole record
     */
    public static SchemaMismatchException ofValue(String path, String reason) {
        return new SchemaMismatchException(Condition.LSQL_VALUE_DOES_NOT_FIT_SCHEMA, FieldPath.before(reason, path));
    }
}
