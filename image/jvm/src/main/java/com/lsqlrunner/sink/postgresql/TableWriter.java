package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.sink.Sink;
import com.lsqlrunner.sink.SinkException;
import com.lsqlrunner.sink.SinkRow;
import com.lsqlrunner.sink.SinkTable;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes the rows of one task, some at a time. Inserts are one transaction with the mark that they are written. Upserts
 * may be written again, so each request of them is a transaction of its own, with its keys in order: tasks that write
 * the same keys then never wait for each other in a circle.
 */
final class TableWriter implements AutoCloseable {
    private static final String NO_KEY_OF_TOMBSTONE =
            " of a tombstone is not known: it is computed from the value, or the record has no key";

    private final Connection connection;
    private final SinkTable table;
    private final Sink.Task task;
    private final int[] key;
    private final PreparedStatement write;
    private final PreparedStatement delete;
    private final PreparedStatement claim;
    private final Map<String, Boolean> isNew = new HashMap<>();
    private final Map<List<Object>, SinkRow> pending = new LinkedHashMap<>();

    TableWriter(Connection connection, SinkTable table, Sink.Task task) throws SQLException {
        this.connection = connection;
        this.table = table;
        this.task = task;
        this.key = table.keyPlaces();
        Statements sql = new Statements(table);
        write = connection.prepareStatement(table.upsert() ? sql.upsert() : sql.insert());
        delete = table.upsert() ? connection.prepareStatement(sql.delete()) : null;
        claim = table.upsert() ? null : connection.prepareStatement(sql.claim());
    }

    /** Takes a row; of several with the same key the last one counts. */
    void add(SinkRow row) throws SQLException {
        for (int place : key) {
            if (row.values()[place] == null) {
                String why = "the key column " + table.columns().get(place)
                        + (row.deleted() ? NO_KEY_OF_TOMBSTONE : " is null");
                throw SinkException.row(table, row, why);
            }
        }
        if (!table.upsert()) {
            if (row.deleted()) {
                throw SinkException.row(table, row, "it is a tombstone, and an INSERT deletes nothing");
            }
            if (!isNew(row.source(task))) {
                return;
            }
        }
        List<Object> identity = table.upsert() ? keyOf(row) : List.of(pending.size());
        pending.remove(identity);
        pending.put(identity, row);
        if (pending.size() >= table.batchRows()) {
            flush();
        }
    }

    /** Whether this batch has not been written for a source yet; from now on it counts as written. */
    private boolean isNew(String source) throws SQLException {
        Boolean known = isNew.get(source);
        if (known == null) {
            claim.setString(1, task.writer());
            claim.setString(2, source);
            claim.setString(3, task.run());
            claim.setLong(4, task.batch());
            known = claim.executeUpdate() > 0;
            isNew.put(source, known);
        }
        return known;
    }

    /** Sends what is pending. Where the server refuses it, one row after the other, to know which one it refuses. */
    void flush() throws SQLException {
        if (pending.isEmpty()) {
            return;
        }
        List<SinkRow> rows = table.upsert()
                ? pending.entrySet().stream()
                        .sorted((one, other) -> order(one.getKey(), other.getKey()))
                        .map(Map.Entry::getValue)
                        .toList()
                : List.copyOf(pending.values());
        pending.clear();
        Savepoint before = connection.setSavepoint();
        try {
            send(rows);
        } catch (SQLException error) {
            if (!SqlErrors.isOfRow(error)) {
                throw error;
            }
            connection.rollback(before);
            for (SinkRow row : rows) {
                sendAlone(row);
            }
        }
        connection.releaseSavepoint(before);
        if (table.upsert()) {
            connection.commit();
        }
    }

    @SuppressWarnings("unchecked") // All values of a column are of one class, and each of these has an order.
    private static int order(List<Object> one, List<Object> other) {
        int found = 0;
        for (int part = 0; part < one.size() && found == 0; part++) {
            found = ((Comparable<Object>) one.get(part)).compareTo(other.get(part));
        }
        return found;
    }

    private void sendAlone(SinkRow row) throws SQLException {
        try {
            send(List.of(row));
        } catch (SQLException error) {
            if (!SqlErrors.isOfRow(error)) {
                throw error;
            }
            throw SinkException.row(table, row, SqlErrors.words(error));
        }
    }

    /** Sends rows in their order, neighbours of one kind in one batch. */
    private void send(Collection<SinkRow> rows) throws SQLException {
        PreparedStatement open = null;
        for (SinkRow row : rows) {
            PreparedStatement statement = row.deleted() ? delete : write;
            if (open != null && open != statement) {
                open.executeBatch();
            }
            open = statement;
            if (row.deleted()) {
                for (int i = 0; i < key.length; i++) {
                    bind(delete, i + 1, row.values()[key[i]], table.types().get(key[i]));
                }
            } else {
                for (int place = 0; place < row.values().length; place++) {
                    bind(write, place + 1, row.values()[place], table.types().get(place));
                }
            }
            statement.addBatch();
        }
        if (open != null) {
            open.executeBatch();
        }
    }

    private static void bind(PreparedStatement statement, int place, Object value, String type) throws SQLException {
        if (value == null) {
            statement.setNull(place, sqlType(type));
        } else {
            statement.setObject(place, value);
        }
    }

    private static int sqlType(String type) {
        return switch (type) {
            case "int" -> Types.INTEGER;
            case "long" -> Types.BIGINT;
            case "float" -> Types.REAL;
            case "double" -> Types.DOUBLE;
            case "boolean" -> Types.BOOLEAN;
            case "bytes" -> Types.BINARY;
            case "date" -> Types.DATE;
            case "timestamp" -> Types.TIMESTAMP_WITH_TIMEZONE;
            case "string", "json" -> Types.VARCHAR;
            default -> Types.NUMERIC;
        };
    }

    /** Equal for rows whose keys the server takes for equal. */
    private List<Object> keyOf(SinkRow row) {
        List<Object> found = new ArrayList<>();
        for (int place : key) {
            Object value = row.values()[place];
            if (value instanceof BigDecimal number) {
                value = number.stripTrailingZeros();
            } else if (value instanceof byte[] bytes) {
                value = ByteBuffer.wrap(bytes);
            }
            found.add(value);
        }
        return found;
    }

    @Override
    public void close() throws SQLException {
        write.close();
        if (delete != null) {
            delete.close();
        }
        if (claim != null) {
            claim.close();
        }
    }
}
