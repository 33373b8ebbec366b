package com.lsqlrunner.errors;

import java.util.Map;

/**
 * Bytes that are not a value of their format. The reason begins with the field that contains them, if there is one.
 *
 * <p>Each decoder that passes the exception on adds the field that it was reading. Decoders keep no path while they
 * read, so valid records have no cost.
 */
public final class MalformedRecordException extends LsqlException {
    private static final long serialVersionUID = 1L;

    private final String path;
    private final String problem;

    public MalformedRecordException(String reason) {
        this("", reason);
    }

    private MalformedRecordException(String path, String problem) {
        super(Condition.MALFORMED_RECORD_IN_PARSING, Map.of("reason", FieldPath.before(problem, path)));
        this.path = path;
        this.problem = problem;
    }

    /** The same error, as seen from outside of the field that was read. */
    public MalformedRecordException inField(String name) {
        return new MalformedRecordException(FieldPath.inField(name, path), problem);
    }

    /** The same error, as seen from outside of the array whose item was read. */
    public MalformedRecordException inItem(int index) {
        return new MalformedRecordException(FieldPath.inItem(index, path), problem);
    }

    /** The same error, as seen from outside of the map whose entry was read. */
    public MalformedRecordException inEntry(Object key) {
        return new MalformedRecordException(FieldPath.inEntry(key, path), problem);
    }
}
