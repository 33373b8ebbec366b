package com.lsqlrunner.sink;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.errors.ShownValue;
import java.security.cert.CertificateException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Why a sink did not accept rows. */
public final class SinkException extends LsqlException {
    private static final long serialVersionUID = 1L;
    private static final int MAX_LENGTH = 300;

    private SinkException(Condition condition, Map<String, String> parameters) {
        super(condition, parameters);
    }

    /** A failure that is not caused by one row. */
    public static SinkException of(Condition condition, String reason) {
        return new SinkException(condition, Map.of("reason", line(reason)));
    }

    /** The reason why the certificate of a server is not trusted; null if that is not the cause of an error. */
    public static String certificateFault(Throwable error) {
        String fault = null;
        boolean isOfCertificate = false;
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            isOfCertificate |= cause instanceof CertificateException;
            fault = isOfCertificate && cause.getMessage() != null ? cause.getMessage() : fault;
        }
        return fault;
    }

    /** A row that the server refuses, with its position in Kafka, or its key if it is the result of an aggregate. */
    public static SinkException row(SinkTable table, SinkRow row, String reason) {
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("reason", line(reason));
        if (row.topic() == null) {
            parameters.put("row", line(key(table, row)));
        } else {
            parameters.put("topic", row.topic());
            parameters.put("partition", String.valueOf(row.partition()));
            parameters.put("offset", String.valueOf(row.offset()));
        }
        return new SinkException(Condition.LSQL_SINK_ROW_REFUSED, parameters);
    }

    /** {@code id=7, name=x}: the key columns, or all columns if there is no key. Values may be masked. */
    private static String key(SinkTable table, SinkRow row) {
        StringBuilder text = new StringBuilder();
        for (int index = 0; index < table.columns().size(); index++) {
            String column = table.columns().get(index);
            if (table.key().isEmpty() || table.key().contains(column)) {
                text.append(text.length() == 0 ? "" : ", ")
                        .append(column)
                        .append('=')
                        .append(ShownValue.choose(String.valueOf(row.values()[index]), ShownValue.MASK));
            }
        }
        return text.toString();
    }

    private static String line(String text) {
        String line = String.valueOf(text).replaceAll("\\s+", " ").strip();
        return line.length() > MAX_LENGTH ? line.substring(0, MAX_LENGTH) + "..." : line;
    }
}
