package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.sink.ConnectionPool;
import com.lsqlrunner.sink.Sink;
import com.lsqlrunner.sink.SinkRow;
import com.lsqlrunner.sink.SinkTable;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;

/** Rows to tables of PostgreSQL. */
public final class PostgresSink implements Sink, ConnectionPool.Client<Connection> {
    private static final int ANSWER_S = 5;

    private final String url;
    private final Properties properties = new Properties();
    private final Driver driver;
    private final ConnectionPool<Connection> pool = new ConnectionPool<>(this);

    /** Settings: url ({@code jdbc:postgresql://...}), user, password, client. */
    public PostgresSink(Map<String, String> settings) throws ReflectiveOperationException {
        url = settings.get("url");
        properties.put("user", settings.get("user"));
        properties.put("password", settings.get("password"));
        properties.put("ApplicationName", settings.get("client"));
        properties.put("connectTimeout", "10");
        properties.put("loginTimeout", "10");
        properties.put("socketTimeout", "120");
        properties.put("tcpKeepAlive", "true");
        properties.put("reWriteBatchedInserts", "true");
        // The server reads text as the type of its column: uuid, jsonb, an enumeration.
        properties.put("stringtype", "unspecified");
        properties.put("options", "-c TimeZone=UTC");
        driver =
                (Driver) Class.forName("org.postgresql.Driver", true, getClass().getClassLoader())
                        .getConstructor()
                        .newInstance();
    }

    @Override
    public void prepare(SinkTable table) {
        pool.use(connection -> {
            try {
                new TableCheck(connection, table).run();
                connection.commit();
            } catch (SQLException error) {
                throw SqlErrors.beforeRows(error);
            }
        });
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
            Connection made = driver.connect(url, properties);
            made.setAutoCommit(false);
            return made;
        } catch (SQLException error) {
            throw SqlErrors.of(error);
        }
    }

    @Override
    public boolean isUsable(Connection connection) {
        try {
            if (connection.isValid(ANSWER_S)) {
                connection.rollback(); // the question began a transaction
                return true;
            }
        } catch (SQLException error) {
            // It is as good as closed.
        }
        return false;
    }

    /** Gives a connection up; the server rolls back what it had begun. */
    @Override
    public void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException error) {
            // There is nothing left to lose.
        }
    }
}
