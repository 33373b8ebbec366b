package com.lsqlrunner.errors;

import com.lsqlrunner.PythonEntry;
import java.util.Map;

/**
 * The error conditions of this module. Python decides by the name; the text is for people. A name in angle brackets is
 * a parameter.
 */
@PythonEntry
public enum Condition {
    /** Bytes that are not in the declared format. All formats, including Spark's own, report this condition. */
    MALFORMED_RECORD_IN_PARSING("<reason>"),
    /** A header whose bytes do not have the type that a function expects. */
    LSQL_HEADER_INVALID("header <header>: <reason>"),
    /** A schema that cannot be used, or that cannot hold a type. Detected before any record is read. */
    LSQL_SCHEMA_UNUSABLE("<reason>"),
    /** A value that its schema cannot hold. */
    LSQL_VALUE_DOES_NOT_FIT_SCHEMA("<reason>"),
    /** A record that is larger than its topic allows. {@code bytes} and {@code limit_bytes} are numbers. */
    LSQL_RECORD_TOO_LARGE("the record has <bytes> bytes, its topic allows <limit_bytes>"),
    /** A timestamp that the topic of the record does not accept. */
    LSQL_TIMESTAMP_REFUSED("<reason>"),
    /**
     * A record that exceeds the heap of workers: their JVMs exit. {@code partition}, {@code offset} and
     * {@code heap_mib} are numbers.
     */
    LSQL_RECORD_EXCEEDS_HEAP(
            "the record at <offset> of partition <partition> of <topic> exceeds <heap_mib> MiB of heap"),
    /** An aggregate whose state of one group is too large. */
    LSQL_GROUP_TOO_LARGE("<aggregate> keeps more than <limit_mib> MiB of one group"),
    /** A user-defined function fails for a record: it throws an exception, or returns an invalid value. */
    LSQL_FUNCTION_FAILED("<reason>"),
    /** The class of a user-defined function cannot be loaded, created or linked. */
    LSQL_FUNCTION_UNUSABLE("<reason>"),
    LSQL_REGISTRY_UNREACHABLE("The schema registry does not answer: <reason>"),
    LSQL_REGISTRY_REFUSED("The schema registry refuses: <reason>"),
    /** {@code limit_bytes} is a number. */
    LSQL_REGISTRY_RESPONSE_TOO_LARGE("the response from <url> has more than <limit_bytes> bytes"),
    LSQL_SINK_UNREACHABLE("<reason>"),
    /** The server refuses this client: credentials, rights, a database that does not exist. */
    LSQL_SINK_REFUSED("<reason>"),
    /** The certificate of the server is from another authority or for another host. */
    LSQL_SINK_CERTIFICATE_UNTRUSTED("<reason>"),
    /** The table does not exist or has other columns. */
    LSQL_SINK_TABLE_MISMATCH("<reason>"),
    /**
     * The server refuses a row, and would refuse it again. {@code topic}, {@code partition} and {@code offset} identify
     * the source record; the result of an aggregate has {@code row} instead.
     */
    LSQL_SINK_ROW_REFUSED("<reason>"),
    /** A temporary failure of a sink: a deadlock, an error of the server. */
    LSQL_SINK_FAILED("<reason>"),
    /** The brokers or the login server do not answer. {@code reason} may be absent. */
    LSQL_BROKER_UNREACHABLE("<reason>"),
    /** The brokers refuse the credentials. */
    LSQL_BROKER_LOGIN_REFUSED("<reason>"),
    /** The brokers deny a request. */
    LSQL_BROKER_RIGHTS_MISSING("<reason>"),
    /** Kafka's client cannot be created with the settings. */
    LSQL_BROKER_SETTINGS_INVALID("<reason>"),
    /** The store with the state does not answer. */
    LSQL_STORE_UNREACHABLE("<reason>"),
    /** The store with the state refuses the credentials, or the bucket does not exist. */
    LSQL_STORE_REFUSED("<reason>"),
    /** The class path has no connector for the scheme of the store, or one of its classes is missing. */
    LSQL_STORE_WITHOUT_CONNECTOR("<reason>"),
    LSQL_STORE_FAILED("<reason>"),
    /** A source topic that was deleted and created again, so that positions in it belong to other records. */
    LSQL_TOPIC_RECREATED("the topic <topic> was deleted and created again"),
    /** A position whose records were deleted, or its partition. {@code partition} and {@code offset} are numbers. */
    LSQL_OFFSET_MISSING("partition <partition> of <topic> has no offset <offset>"),
    /** A partition that has lost its last records. {@code partition}, {@code position} and {@code end} are numbers. */
    LSQL_TOPIC_SHORTER("partition <partition> of <topic> ends at <end>, before the position <position>"),
    /** The topic to create already exists. */
    LSQL_TOPIC_EXISTS("<reason>"),
    /** The consumer group has members, so only these may commit positions. */
    LSQL_GROUP_IN_USE("<reason>"),
    LSQL_BROKER_FAILED("<reason>");

    private final String text;

    Condition(String text) {
        this.text = text;
    }

    /** The text with the names of the parameters in angle brackets. */
    String template() {
        return text;
    }

    /** The text with the values of the parameters. */
    public String text(Map<String, String> parameters) {
        String message = text;
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            message = message.replace("<" + parameter.getKey() + ">", parameter.getValue());
        }
        return message;
    }
}
