package com.lsqlrunner.errors;

import java.util.Map;

/** The registry did not say what an id means. This says nothing about the record, and may pass. */
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
