package com.lsqlrunner.sink.redis;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.ShownValue;
import com.lsqlrunner.sink.ConnectionPool;
import com.lsqlrunner.sink.Sink;
import com.lsqlrunner.sink.SinkException;
import com.lsqlrunner.sink.SinkRow;
import com.lsqlrunner.sink.SinkTable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
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
import redis.clients.jedis.SslVerifyMode;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Writes rows to keys of Redis, {@code <table>:<key>}. The first columns of the table are its key, as text; the others
 * are the value: a value of bytes (store STRING), or a field of text for each column (store HASH).
 *
 * <p>Writing a row again has no effect, so a whole batch may be written again. Only the protocol of the client is used:
 * its commands for other data types need libraries that are not included.
 */
public final class RedisSink implements Sink, ConnectionPool.Client<Connection> {
    private static final int CONNECT_TIMEOUT_MS = 10_000;
    private static final int RESPONSE_TIMEOUT_MS = 60_000;

    private static final String STORE_TYPE = "PKCS12";
    /** A key store needs a password; the store is never written to a file, and certificates are not secret. */
    private static final String STORE_PASSWORD = "certificates";

    private final HostAndPort server;
    private final JedisClientConfig config;
    private final ConnectionPool<Connection> pool = new ConnectionPool<>(this);

    /**
     * Settings: url ({@code redis[s]://host[:port][/database]}), user, password, ca (certificates as PEM that verify
     * the server's certificate; empty: the JVM's own certificates).
     */
    public RedisSink(Map<String, String> settings) {
        URI url = URI.create(settings.get("url"));
        server = new HostAndPort(url.getHost(), url.getPort() < 0 ? 6379 : url.getPort());
        String path = url.getPath() == null ? "" : url.getPath().replaceFirst("^/", "");
        String user = settings.get("user");
        String password = settings.get("password");
        config = DefaultJedisClientConfig.builder()
                .connectionTimeoutMillis(CONNECT_TIMEOUT_MS)
                .socketTimeoutMillis(RESPONSE_TIMEOUT_MS)
                .sslOptions("rediss".equals(url.getScheme()) ? encryption(settings.get("ca")) : null)
                .database(path.isEmpty() ? 0 : Integer.parseInt(path))
                .user(user.isEmpty() ? null : user)
                .password(password.isEmpty() ? null : password)
                .build();
    }

    /** The certificate of the server and its host name are verified. */
    private static SslOptions encryption(String ca) {
        if (ca.isEmpty()) {
            return SslOptions.defaults();
        }
        byte[] trusted = keyStore(ca);
        return SslOptions.builder()
                .sslVerifyMode(SslVerifyMode.FULL)
                .trustStoreType(STORE_TYPE)
                .truststore(() -> new ByteArrayInputStream(trusted), STORE_PASSWORD.toCharArray())
                .build();
    }

    /** Certificates as a key store, the only form that the client reads. */
    private static byte[] keyStore(String ca) {
        try {
            KeyStore store = KeyStore.getInstance(STORE_TYPE);
            store.load(null, null);
            ByteArrayInputStream pem = new ByteArrayInputStream(bytes(ca));
            for (Certificate certificate :
                    CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                store.setCertificateEntry(String.valueOf(store.size()), certificate);
            }
            ByteArrayOutputStream stored = new ByteArrayOutputStream();
            store.store(stored, STORE_PASSWORD.toCharArray());
            return stored.toByteArray();
        } catch (GeneralSecurityException | IOException error) {
            throw new IllegalStateException("the CA certificates cannot be used", error);
        }
    }

    @Override
    public void prepare(SinkTable table) {
        use(connection -> {
            connection.sendCommand(Command.PING);
            checkResponses(connection, 1);
        });
    }

    @Override
    public void write(SinkTable table, Task task, Iterator<SinkRow> rows) {
        use(connection -> {
            int expected = 0;
            int inBatch = 0;
            while (rows.hasNext()) {
                expected += send(connection, table, rows.next());
                if (++inBatch >= table.batchRows()) {
                    checkResponses(connection, expected);
                    expected = 0;
                    inBatch = 0;
                }
            }
            checkResponses(connection, expected);
        });
    }

    /** Sends the commands of a row and returns the number of their responses. */
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
        for (int index = first; index < row.values().length; index++) {
            if (row.values()[index] != null) {
                fields.add(bytes(table.columns().get(index)));
                fields.add(bytes((String) row.values()[index]));
            }
        }
        connection.sendCommand(Command.MULTI);
        connection.sendCommand(Command.DEL, key); // remove fields that are null now
        connection.sendCommand(Command.HSET, fields.toArray(byte[][]::new));
        connection.sendCommand(Command.EXEC);
        return 4;
    }

    private static byte[] key(SinkTable table, SinkRow row) {
        StringBuilder text = new StringBuilder(table.name());
        int columns = table.key().size();
        for (int index = 0; index < columns; index++) {
            String column = (String) row.values()[index];
            if (column == null) {
                String reason = "the key column " + table.key().get(index)
                        + (row.deleted()
                                ? " of a tombstone is unknown: it is computed from the value, or the record has no key"
                                : " is null");
                throw SinkException.row(table, row, reason);
            }
            // Escaped, so that different keys remain different.
            text.append(':')
                    .append(columns == 1 ? column : column.replace("\\", "\\\\").replace(":", "\\:"));
        }
        return bytes(text.toString());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void checkResponses(Connection connection, int count) {
        for (Object response : connection.getMany(count)) {
            Object inner = response instanceof List<?> list && !list.isEmpty() ? list.get(list.size() - 1) : response;
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
            return false; // the connection is not usable
        }
    }

    @Override
    public void close(Connection connection) {
        try {
            connection.close();
        } catch (JedisException error) {
            // The connection is not used again, so the error does not matter.
        }
    }

    /** An error concerns the server or this client: Redis refuses no row of text and bytes because of its content. */
    private static SinkException failure(JedisException error) {
        Throwable cause = error;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String fault = SinkException.certificateFault(error);
        if (fault != null) {
            return SinkException.of(Condition.LSQL_SINK_CERTIFICATE_UNTRUSTED, fault);
        }
        boolean isUnreachable = error instanceof JedisConnectionException;
        boolean isRefused = error instanceof JedisAccessControlException || error instanceof JedisDataException;
        String message = isUnreachable && cause != error ? cause.getMessage() : error.getMessage();
        // An unknown command, for example one that is renamed, is shown with its arguments.
        String reason = ShownValue.choose(message, String.valueOf(message).split(", with args beginning with", 2)[0]);
        return SinkException.of(
                isUnreachable
                        ? Condition.LSQL_SINK_UNREACHABLE
                        : isRefused ? Condition.LSQL_SINK_REFUSED : Condition.LSQL_SINK_FAILED,
                reason);
    }
}
