package com.lsqlrunner.sink;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Why a sink did not take rows. */
public final class SinkException extends LsqlException {
    private static final long serialVersionUID = 1L;
    private static final int LONGEST = 300;

    private SinkException(Condition condition, Map<String, String> parameters) {
        super(condition, parameters);
    }

    /** A failure that is not about one row. */
    public static SinkException of(Condition condition, String reason) {
        return new SinkException(condition, Map.of("reason", line(reason)));
    }

    /** A row that the server refuses, with its place in Kafka, or its key where it is the result of an aggregate. */
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

    /** {@code id=7, name=x}: the key's columns, or all where there is no key. */
    private static String key(SinkTable table, SinkRow row) {
        StringBuilder text = new StringBuilder();
        for (int place = 0; place < table.columns().size(); place++) {
            String column = table.columns().get(place);
            if (table.key().isEmpty() || table.key().contains(column)) {
                text.append(text.length() == 0 ? "" : ", ")
                        .append(column)
                        .append('=')
                        .append(row.values()[place]);
            }
        }
        return text.toString();
    }

    private static String line(String text) {
        String line = String.valueOf(text).replaceAll("\\s+", " ").strip();
        return line.length() > LONGEST ? line.substring(0, LONGEST) + "..." : line;
    }
}
