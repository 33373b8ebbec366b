package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.sink.SinkException;
import com.lsqlrunner.sink.SinkTable;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Checks before the first row that a table accepts the rows of a program; creates the table if the program says so. */
final class TableCheck {
    private static final String COLUMNS =
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped";
    private static final String UNIQUE =
            "SELECT array_agg(a.attname::text) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid"
                    + " AND a.attnum = ANY (i.indkey) WHERE i.indrelid = to_regclass(?) AND i.indisunique AND i.indimmediate"
                    + " AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts GROUP BY i.indexrelid";

    private final Connection connection;
    private final SinkTable table;
    private final Statements sql;

    TableCheck(Connection connection, SinkTable table) {
        this.connection = connection;
        this.table = table;
        this.sql = new Statements(table);
    }

    void run() throws SQLException {
        List<String> columns = columns(sql.name());
        if (columns.isEmpty() && table.creates()) {
            execute(sql.create());
            columns = columns(sql.name());
        }
        if (columns.isEmpty()) {
            throw mismatch("it does not exist");
        }
        for (String column : table.columns()) {
            if (!columns.contains(column)) {
                throw mismatch("it has no column " + column + ", it has " + String.join(", ", columns));
            }
        }
        if (table.upsert() && !isUnique()) {
            throw mismatch("no primary key or unique constraint is on exactly " + String.join(", ", table.key()));
        }
        if (!table.upsert() && columns(sql.batchTable()).isEmpty()) {
            execute(sql.createBatchTable());
        }
    }

    private List<String> columns(String name) throws SQLException {
        List<String> columns = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
            statement.setString(1, name);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    columns.add(rows.getString(1));
                }
            }
        }
        return columns;
    }

    private boolean isUnique() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(UNIQUE)) {
            statement.setString(1, sql.name());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    Array names = rows.getArray(1);
                    if (Set.of((Object[]) names.getArray()).equals(Set.copyOf(table.key()))) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    private void execute(String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(text);
        }
    }

    private SinkException mismatch(String reason) {
        return SinkException.of(Condition.LSQL_SINK_TABLE_MISMATCH, reason);
    }
}
