package com.lsqlrunner.sink.postgresql;

import com.lsqlrunner.sink.Sink;
import com.lsqlrunner.sink.SinkFailure;
import com.lsqlrunner.sink.SinkRow;
import com.lsqlrunner.sink.SinkTable;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.SQLException;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedDeque;

/** Rows to tables of PostgreSQL. */
public final class PostgresSink implements Sink {
  private static final int ANSWER_S = 5;

  private final String url;
  private final Properties properties = new Properties();
  private final Driver driver;
  private final Deque<Connection> idle = new ConcurrentLinkedDeque<>();

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
    Connection connection = connect();
    try {
      new TableCheck(connection, table).run();
      connection.commit();
      idle.push(connection);
    } catch (SQLException error) {
      close(connection);
      throw Failures.beforeRows(error);
    } catch (RuntimeException error) {
      close(connection);
      throw error;
    }
  }

  @Override
  public void write(SinkTable table, Task task, Iterator<SinkRow> rows) {
    Connection connection = connect();
    try (TableWriter writer = new TableWriter(connection, table, task)) {
      while (rows.hasNext()) {
        writer.add(rows.next());
      }
      writer.flush();
      connection.commit();
    } catch (SQLException error) {
      close(connection);
      throw Failures.of(error);
    } catch (RuntimeException error) {
      close(connection);
      throw error;
    }
    idle.push(connection);
  }

  /** A connection with nothing under way; one that was used before, if it still answers. */
  private Connection connect() {
    for (Connection known = idle.poll(); known != null; known = idle.poll()) {
      try {
        if (known.isValid(ANSWER_S)) {
          known.rollback(); // the question began a transaction
          return known;
        }
      } catch (SQLException error) {
        // It is as good as closed.
      }
      close(known);
    }
    try {
      Connection made = driver.connect(url, properties);
      made.setAutoCommit(false);
      return made;
    } catch (SQLException error) {
      throw Failures.of(error);
    }
  }

  /** Gives a connection up; the server rolls back what it had begun. */
  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException error) {
      // There is nothing left to lose.
    }
  }
}
