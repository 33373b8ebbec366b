package com.lsqlrunner.errors;

import java.util.Map;

/** The registry did not return a schema. The record is not the cause, and the error may be temporary. */
public final class RegistryException extends LsqlException {
    private static final long serialVersionUID = 1L;

    private RegistryException(Condition condition, String reason) {
        super(condition, Map.of("reason", reason));
    }

    public static RegistryException unreachable(String reason) {
        return new RegistryException(Condition.LSQL_REGISTRY_UNREACHABLE, reason);
    }

    public static RegistryException refused(String reason) {
        return new RegistryException(Condition.LSQL_REGISTRY_REFUSED, reason);
    }
}
