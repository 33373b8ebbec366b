package com.lsqlrunner.sink.redis;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.sink.ConnectionPool;
import com.lsqlrunner.sink.Sink;
import com.lsqlrunner.sink.SinkException;
import com.lsqlrunner.sink.SinkRow;
import com.lsqlrunner.sink.SinkTable;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Rows to keys of Redis, {@code <table>:<key>}. The first columns of the table are its key, as text; those behind are
 * the value: one of bytes (store STRING), or one for each field as text (store HASH).
 *
 * <p>Writing a row again changes nothing, so that a batch may be written again as a whole. Only the protocol is taken
 * from the client: its commands for other kinds of data ask for libraries that nothing here needs.
 */
public final class RedisSink implements Sink, ConnectionPool.Client<Connection> {
    private static final int CONNECT_MS = 10_000;
    private static final int ANSWER_MS = 60_000;

    private final HostAndPort server;
    private final JedisClientConfig config;
    private final ConnectionPool<Connection> pool = new ConnectionPool<>(this);

    /** Settings: url ({@code redis[s]://host[:port][/database]}), user, password. */
    public RedisSink(Map<String, String> settings) {
        URI url = URI.create(settings.get("url"));
        server = new HostAndPort(url.getHost(), url.getPort() < 0 ? 6379 : url.getPort());
        String path = url.getPath() == null ? "" : url.getPath().replaceFirst("^/", "");
        String user = settings.get("user");
        String password = settings.get("password");
        config = DefaultJedisClientConfig.builder()
                .connectionTimeoutMillis(CONNECT_MS)
                .socketTimeoutMillis(ANSWER_MS)
                .sslOptions("rediss".equals(url.getScheme()) ? SslOptions.defaults() : null)
                .database(path.isEmpty() ? 0 : Integer.parseInt(path))
                .user(user.isEmpty() ? null : user)
                .password(password.isEmpty() ? null : password)
                .build();
    }

    @Override
    public void prepare(SinkTable table) {
        use(connection -> {
            connection.sendCommand(Command.PING);
            answers(connection, 1);
        });
    }

    @Override
    public void write(SinkTable table, Task task, Iterator<SinkRow> rows) {
        use(connection -> {
            int asked = 0;
            int inBatch = 0;
            while (rows.hasNext()) {
                asked += send(connection, table, rows.next());
                if (++inBatch >= table.batchRows()) {
                    answers(connection, asked);
                    asked = 0;
                    inBatch = 0;
                }
            }
            answers(connection, asked);
        });
    }

    /** Sends a row's commands and returns how many answers they have. */
    private static int send(Connection connection, SinkTable table, SinkRow row) {
        byte[] key = key(table, row);
        if (row.deleted()) {
            connection.sendCommand(Command.DEL, key);
            return 1;
        }
        int first = table.key().size();
        if (table.store().equals("STRING")) {
            connection.sendCommand(Command.SET, key, (byte[]) row.values()[first]);
            return 1;
        }
        List<byte[]> fields = new ArrayList<>(List.of(key));
        for (int place = first; place < row.values().length; place++) {
            if (row.values()[place] != null) {
                fields.add(bytes(table.columns().get(place)));
                fields.add(bytes((String) row.values()[place]));
            }
        }
        connection.sendCommand(Command.MULTI);
        connection.sendCommand(Command.DEL, key); // fields that are null now must not stay
        connection.sendCommand(Command.HSET, fields.toArray(byte[][]::new));
        connection.sendCommand(Command.EXEC);
        return 4;
    }

    private static byte[] key(SinkTable table, SinkRow row) {
        StringBuilder text = new StringBuilder(table.name());
        int parts = table.key().size();
        for (int place = 0; place < parts; place++) {
            String part = (String) row.values()[place];
            if (part == null) {
                String why = "the key column " + table.key().get(place)
                        + (row.deleted()
                                ? " of a tombstone is not known: it is computed from the value, or the record has no key"
                                : " is null");
                throw SinkException.row(table, row, why);
            }
            // Several parts stay apart whatever is in them.
            text.append(':')
                    .append(parts == 1 ? part : part.replace("\\", "\\\\").replace(":", "\\:"));
        }
        return bytes(text.toString());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void answers(Connection connection, int count) {
        for (Object answer : connection.getMany(count)) {
            Object inner = answer instanceof List<?> list && !list.isEmpty() ? list.get(list.size() - 1) : answer;
            if (inner instanceof JedisDataException error) {
                throw error;
            }
        }
    }

    private void use(ConnectionPool.Work<Connection> work) {
        try {
            pool.use(work);
        } catch (JedisException error) {
            throw failure(error);
        }
    }

    @Override
    public Connection connect() {
        return new Connection(server, config);
    }

    @Override
    public boolean isUsable(Connection connection) {
        try {
            return connection.ping();
        } catch (JedisException error) {
            return false; // it is as good as closed
        }
    }

    @Override
    public void close(Connection connection) {
        try {
            connection.close();
        } catch (JedisException error) {
            // There is nothing left to lose.
        }
    }

    /** An answer is about the server or this client: rows of text and bytes are never refused for what they hold. */
    private static SinkException failure(JedisException error) {
        Throwable cause = error;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        boolean silent = error instanceof JedisConnectionException;
        boolean refused = error instanceof JedisAccessControlException || error instanceof JedisDataException;
        String said = silent && cause != error ? cause.getMessage() : error.getMessage();
        return SinkException.of(
                silent
                        ? Condition.LSQL_SINK_UNREACHABLE
                        : refused ? Condition.LSQL_SINK_REFUSED : Condition.LSQL_SINK_FAILED,
                said);
    }
}
