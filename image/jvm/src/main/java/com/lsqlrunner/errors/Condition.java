package com.lsqlrunner.errors;

import com.lsqlrunner.PythonEntry;
import java.util.Map;

/**
 * What can go wrong in this module, by the code that Python decides by. The text is for people; what stands in angle
 * brackets is the name of a parameter.
 */
@PythonEntry
public enum Condition {
    /** Bytes that are not of their format. All formats, Spark's own among them, report it under this name. */
    MALFORMED_RECORD_IN_PARSING("<reason>"),
    /** A schema that cannot be used, or that cannot hold a type. Found before any record is read. */
    LSQL_SCHEMA_UNUSABLE("<reason>"),
    /** A value that the schema it is written with cannot hold. */
    LSQL_VALUE_DOES_NOT_FIT_SCHEMA("<reason>"),
    /** A record that its topic would refuse. {@code bytes} and {@code limit_bytes} are numbers. */
    LSQL_RECORD_TOO_LARGE("the record has <bytes> bytes, its topic takes <limit_bytes>"),
    /** An aggregate that would keep too much of one group. */
    LSQL_GROUP_TOO_LARGE("<aggregate> keeps more than <limit_mib> MiB of one group"),
    LSQL_REGISTRY_UNREACHABLE("The schema registry does not answer: <reason>"),
    LSQL_REGISTRY_REFUSED("The schema registry refuses: <reason>"),
    LSQL_SINK_UNREACHABLE("<reason>"),
    /** The server refuses this client: credentials, rights, a database that does not exist. */
    LSQL_SINK_REFUSED("<reason>"),
    /** The table does not exist or has other columns. */
    LSQL_SINK_TABLE_MISMATCH("<reason>"),
    /**
     * The server refuses a row, and would again. {@code topic}, {@code partition} and {@code offset} are the record's
     * that the row was made of; a result of an aggregate has {@code row} instead.
     */
    LSQL_SINK_ROW_REFUSED("<reason>"),
    /** A failure of a sink that may pass: a deadlock, a fault of the server. */
    LSQL_SINK_FAILED("<reason>"),
    /** The brokers, or the login server, do not answer. {@code reason} may be absent. */
    LSQL_BROKER_UNREACHABLE("<reason>"),
    /** The brokers refuse the credentials. */
    LSQL_BROKER_LOGIN_REFUSED("<reason>"),
    /** The brokers refuse what was asked. */
    LSQL_BROKER_RIGHTS_MISSING("<reason>"),
    /** Kafka's client cannot be made of the settings. */
    LSQL_BROKER_SETTINGS_INVALID("<reason>"),
    /** A topic that was to be created exists. */
    LSQL_TOPIC_EXISTS("<reason>"),
    LSQL_BROKER_FAILED("<reason>");

    private final String text;

    Condition(String text) {
        this.text = text;
    }

    /** The text with parameters in it. */
    public String text(Map<String, String> parameters) {
        String found = text;
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            found = found.replace("<" + parameter.getKey() + ">", parameter.getValue());
        }
        return found;
    }
}
