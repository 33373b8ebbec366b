package com.lsqlrunner.errors;

import java.util.Map;

/** Bytes that are not a value of their format. */
public final class MalformedRecordException extends LsqlException {
    private static final long serialVersionUID = 1L;

    public MalformedRecordException(String reason) {
        super(Condition.MALFORMED_RECORD_IN_PARSING, Map.of("reason", reason));
    }
}
