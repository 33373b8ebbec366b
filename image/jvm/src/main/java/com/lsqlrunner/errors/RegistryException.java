package com.lsqlrunner.errors;

import java.util.Map;

/** The registry did not return a schema. The record is not the cause, and the error may be temporary. */
public final class RegistryException extends LsqlException {
    private static final long serialVersionUID = 1L;

    private RegistryException(Condition condition, Map<String, String> parameters) {
        super(condition, parameters);
    }

    public static RegistryException unreachable(String reason) {
        return new RegistryException(Condition.LSQL_REGISTRY_UNREACHABLE, Map.of("reason", reason));
    }

    public static RegistryException refused(String reason) {
        return new RegistryException(Condition.LSQL_REGISTRY_REFUSED, Map.of("reason", reason));
    }

    public static RegistryException responseTooLarge(String url, int limitBytes) {
        return new RegistryException(
                Condition.LSQL_REGISTRY_RESPONSE_TOO_LARGE,
                Map.of("url", url, "limit_bytes", Integer.toString(limitBytes)));
    }
}
