package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.sink.ConnectionPool;
import com.lsqlrunner.sink.Sink;
import com.lsqlrunner.sink.SinkRow;
import com.lsqlrunner.sink.SinkTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;

/** Writes rows to tables of PostgreSQL. */
public final class PostgresSink implements Sink, ConnectionPool.Client<Connection> {
    private static final int CHECK_TIMEOUT_S = 5;

    /** A longer name of a client is cut by the server, and may then be that of another processor. */
    private static final int NAME_BYTES = 63;

    /**
     * Ends the transactions of earlier processes of this processor. A process that was suspended, or whose node is
     * lost, keeps its connections and their locks.
     */
    private static final String END_EARLIER = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE application_name = ? AND usename = current_user AND datname = current_database()"
            + " AND pid <> pg_backend_pid() AND xact_start IS NOT NULL";

    private final String url;
    private final Properties properties = new Properties();
    private final Driver driver;
    private final ConnectionPool<Connection> pool = new ConnectionPool<>(this);

    /**
     * Settings: url ({@code jdbc:postgresql://...}), user, password, client, ca (certificates as PEM that verify the
     * server's certificate; empty: the URL determines whether TLS is used), idleTransactionS (seconds after which the
     * server ends the transaction of a client that sends nothing; no limit if it is missing).
     */
    public PostgresSink(Map<String, String> settings) throws ReflectiveOperationException, IOException {
        url = settings.get("url");
        properties.put("user", settings.get("user"));
        properties.put("password", settings.get("password"));
        properties.put("ApplicationName", settings.get("client"));
        properties.put("connectTimeout", "10");
        properties.put("loginTimeout", "10");
        properties.put("socketTimeout", "120");
        properties.put("tcpKeepAlive", "true");
        properties.put("reWriteBatchedInserts", "true");
        // The server converts text to the type of the column: uuid, jsonb, an enum.
        properties.put("stringtype", "unspecified");
        properties.put("options", "-c TimeZone=UTC" + idleTransaction(settings.getOrDefault("idleTransactionS", "")));
        if (!settings.get("ca").isEmpty()) {
            properties.put("sslmode", "verify-full");
            properties.put("sslrootcert", temporaryFile(settings.get("ca")).toString());
        }
        driver =
                (Driver) Class.forName("org.postgresql.Driver", true, getClass().getClassLoader())
                        .getConstructor()
                        .newInstance();
    }

    private static String idleTransaction(String seconds) {
        return seconds.isEmpty() ? "" : " -c idle_in_transaction_session_timeout=" + seconds + "s";
    }

    /** The driver reads certificates from files only. */
    private static Path temporaryFile(String text) throws IOException {
        Path file = Files.createTempFile("lsql-sink-", ".pem");
        file.toFile().deleteOnExit();
        return Files.writeString(file, text);
    }

    @Override
    public void prepare(SinkTable table) {
        pool.use(connection -> {
            try {
                endEarlier(connection);
                new TableCheck(connection, table).run();
                connection.commit();
            } catch (SQLException error) {
                throw SqlErrors.beforeRows(error);
            }
        });
    }

    private void endEarlier(Connection connection) throws SQLException {
        String client = properties.getProperty("ApplicationName");
        if (client.getBytes(StandardCharsets.UTF_8).length <= NAME_BYTES) {
            try (PreparedStatement statement = connection.prepareStatement(END_EARLIER)) {
                statement.setString(1, client);
                statement.executeQuery();
            }
        }
    }

    @Override
    public long newestBatch(SinkTable table, String writer, String run) {
        if (table.upsert()) {
            return -1;
        }
        long[] newest = new long[1];
        pool.use(connection -> {
            try (PreparedStatement statement = connection.prepareStatement(new Statements(table).newestBatch())) {
                statement.setString(1, writer);
                statement.setString(2, run);
                try (ResultSet rows = statement.executeQuery()) {
                    rows.next();
                    newest[0] = rows.getLong(1);
                }
                connection.commit();
            } catch (SQLException error) {
                throw SqlErrors.beforeRows(error);
            }
        });
        return newest[0];
    }

    @Override
    public void write(SinkTable table, Task task, Iterator<SinkRow> rows) {
        pool.use(connection -> {
            try (TableWriter writer = new TableWriter(connection, table, task)) {
                while (rows.hasNext()) {
                    writer.add(rows.next());
                }
                writer.flush();
                connection.commit();
            } catch (SQLException error) {
                throw SqlErrors.of(error);
            }
        });
    }

    @Override
    public Connection connect() {
        try {
            Connection connection = driver.connect(url, properties);
            connection.setAutoCommit(false);
            return connection;
        } catch (SQLException error) {
            throw SqlErrors.of(error);
        }
    }

    @Override
    public boolean isUsable(Connection connection) {
        try {
            if (connection.isValid(CHECK_TIMEOUT_S)) {
                connection.rollback(); // the check started a transaction
                return true;
            }
        } catch (SQLException error) {
            // The connection is not usable.
        }
        return false;
    }

    /** Closes a connection. The server rolls back its transaction. */
    @Override
    public void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException error) {
            // The connection is not used again, so the error does not matter.
        }
    }
}
