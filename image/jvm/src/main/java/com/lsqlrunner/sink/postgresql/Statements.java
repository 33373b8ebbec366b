package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.sink.SinkTable;
import java.util.Arrays;
import java.util.Collection;
import java.util.stream.Collectors;

/** The SQL statements for a table. Names are quoted, so they have the case that the program writes. */
final class Statements {
    private static final String BATCHES = "lsql_batches";

    private final SinkTable table;

    Statements(SinkTable table) {
        this.table = table;
    }

    /** {@code "shop"."orders"} for {@code shop.orders}. */
    String name() {
        return Arrays.stream(table.name().split("\\.")).map(Statements::quoted).collect(Collectors.joining("."));
    }

    /** The table with the last batch of each source. It is in the schema of the target table. */
    String batchTable() {
        int dot = table.name().lastIndexOf('.');
        return dot < 0 ? BATCHES : quoted(table.name().substring(0, dot)) + "." + BATCHES;
    }

    String insert() {
        String values = table.columns().stream().map(column -> "?").collect(Collectors.joining(", "));
        return "INSERT INTO " + name() + " (" + list(table.columns()) + ") VALUES (" + values + ")";
    }

    String upsert() {
        String changes = table.columns().stream()
                .filter(column -> !table.key().contains(column))
                .map(column -> quoted(column) + " = excluded." + quoted(column))
                .collect(Collectors.joining(", "));
        String conflict = changes.isEmpty() ? "NOTHING" : "UPDATE SET " + changes;
        return insert() + " ON CONFLICT (" + list(table.key()) + ") DO " + conflict;
    }

    String delete() {
        String same =
                table.key().stream().map(column -> quoted(column) + " = ?").collect(Collectors.joining(" AND "));
        return "DELETE FROM " + name() + " WHERE " + same;
    }

    String create() {
        StringBuilder text = new StringBuilder("CREATE TABLE IF NOT EXISTS " + name() + " (");
        for (int index = 0; index < table.columns().size(); index++) {
            text.append(index == 0 ? "" : ", ")
                    .append(quoted(table.columns().get(index)))
                    .append(' ');
            text.append(type(table.types().get(index)));
        }
        if (!table.key().isEmpty()) {
            text.append(", PRIMARY KEY (").append(list(table.key())).append(')');
        }
        return text.append(')').toString();
    }

    String createBatchTable() {
        return "CREATE TABLE IF NOT EXISTS "
                + batchTable()
                + " (writer text, source text, run text NOT NULL, batch bigint NOT NULL, PRIMARY KEY (writer, source))";
    }

    /** Saves the last batch of a source. Changes one row, or none if this batch is saved already. */
    String saveBatch() {
        return "INSERT INTO "
                + batchTable()
                + " AS known (writer, source, run, batch) VALUES (?, ?, ?, ?) ON CONFLICT (writer, source) DO UPDATE"
                + " SET run = excluded.run, batch = excluded.batch WHERE known.run <> excluded.run OR known.batch < excluded.batch";
    }

    /** The last batch of a writer in a checkpoint; -1 for none. */
    String newestBatch() {
        return "SELECT COALESCE(MAX(batch), -1) FROM " + batchTable() + " WHERE writer = ? AND run = ?";
    }

    private static String type(String type) {
        return switch (type) {
            case "int" -> "integer";
            case "long" -> "bigint";
            case "float" -> "real";
            case "double" -> "double precision";
            case "string" -> "text";
            case "bytes" -> "bytea";
            case "timestamp" -> "timestamp with time zone";
            case "json" -> "jsonb";
            default -> type.replace("decimal", "numeric"); // boolean, date, time and numeric(p,s)
        };
    }

    private static String list(Collection<String> names) {
        return names.stream().map(Statements::quoted).collect(Collectors.joining(", "));
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }
}
