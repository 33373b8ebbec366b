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
 * Writes the rows of one task in requests of limited size. All inserts are in one transaction, which also saves the
 * batch as the last one. Upserts may be repeated, so each request is a transaction, with its rows in the order of the
 * keys: tasks that write the same keys cannot deadlock.
 */
final class TableWriter implements AutoCloseable {
    private static final String NO_KEY_OF_TOMBSTONE =
            " of a tombstone is unknown: it is computed from the value, or the record has no key";

    private final Connection connection;
    private final SinkTable table;
    private final Sink.Task task;
    private final int[] key;
    private final PreparedStatement write;
    private final PreparedStatement delete;
    private final PreparedStatement saveBatch;
    private final Map<String, Boolean> isNew = new HashMap<>();
    private final Map<List<Object>, SinkRow> pending = new LinkedHashMap<>();

    TableWriter(Connection connection, SinkTable table, Sink.Task task) throws SQLException {
        this.connection = connection;
        this.table = table;
        this.task = task;
        this.key = table.keyIndexes();
        Statements sql = new Statements(table);
        write = connection.prepareStatement(table.upsert() ? sql.upsert() : sql.insert());
        delete = table.upsert() ? connection.prepareStatement(sql.delete()) : null;
        saveBatch = table.upsert() ? null : connection.prepareStatement(sql.saveBatch());
    }

    /** Adds a row. Of several rows with the same key, the last one is written. */
    void add(SinkRow row) throws SQLException {
        for (int index : key) {
            if (row.values()[index] == null) {
                String reason = "the key column " + table.columns().get(index)
                        + (row.deleted() ? NO_KEY_OF_TOMBSTONE : " is null");
                throw SinkException.row(table, row, reason);
            }
        }
        if (!table.upsert()) {
            if (row.deleted()) {
                throw SinkException.row(table, row, "it is a tombstone, and INSERT does not delete rows");
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

    /** Whether this batch of a source has not been written yet. Saves it as the last batch of the source. */
    private boolean isNew(String source) throws SQLException {
        Boolean isNewSource = isNew.get(source);
        if (isNewSource == null) {
            saveBatch.setString(1, task.writer());
            saveBatch.setString(2, source);
            saveBatch.setString(3, task.run());
            saveBatch.setLong(4, task.batch());
            isNewSource = saveBatch.executeUpdate() > 0;
            isNew.put(source, isNewSource);
        }
        return isNewSource;
    }

    /** Sends the pending rows. If the server refuses them, it sends them one by one to find the refused row. */
    void flush() throws SQLException {
        if (pending.isEmpty()) {
            return;
        }
        List<SinkRow> rows = table.upsert()
                ? pending.entrySet().stream()
                        .sorted((left, right) -> compareKeys(left.getKey(), right.getKey()))
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

    @SuppressWarnings("unchecked") // All values of a column have one class, which is comparable.
    private static int compareKeys(List<Object> left, List<Object> right) {
        int order = 0;
        for (int i = 0; i < left.size() && order == 0; i++) {
            order = ((Comparable<Object>) left.get(i)).compareTo(right.get(i));
        }
        return order;
    }

    private void sendAlone(SinkRow row) throws SQLException {
        try {
            send(List.of(row));
        } catch (SQLException error) {
            if (!SqlErrors.isOfRow(error)) {
                throw error;
            }
            throw SinkException.row(table, row, SqlErrors.message(error));
        }
    }

    /** Sends rows in order; consecutive rows with the same statement are one batch. */
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
                for (int index = 0; index < row.values().length; index++) {
                    bind(write, index + 1, row.values()[index], table.types().get(index));
                }
            }
            statement.addBatch();
        }
        if (open != null) {
            open.executeBatch();
        }
    }

    private static void bind(PreparedStatement statement, int index, Object value, String type) throws SQLException {
        if (value == null) {
            statement.setNull(index, sqlType(type));
        } else if (type.equals("numeric")) { // the server reads the text: it would round a number to a whole column
            statement.setObject(index, value, Types.OTHER);
        } else {
            statement.setObject(index, value);
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
            case "time" -> Types.TIME;
            case "timestamp" -> Types.TIMESTAMP_WITH_TIMEZONE;
            case "string", "json" -> Types.VARCHAR;
            default -> Types.NUMERIC;
        };
    }

    /** A list that is equal for rows if their keys are equal for the server. */
    private List<Object> keyOf(SinkRow row) {
        List<Object> values = new ArrayList<>();
        for (int index : key) {
            Object value = row.values()[index];
            if (value instanceof BigDecimal number) {
                value = number.stripTrailingZeros();
            } else if (value instanceof byte[] bytes) {
                value = ByteBuffer.wrap(bytes);
            }
            values.add(value);
        }
        return values;
    }

    @Override
    public void close() throws SQLException {
        write.close();
        if (delete != null) {
            delete.close();
        }
        if (saveBatch != null) {
            saveBatch.close();
        }
    }
}
