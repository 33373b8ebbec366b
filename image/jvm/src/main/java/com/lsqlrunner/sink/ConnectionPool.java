package com.lsqlrunner.sink;

import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

/**
 * Connections to a server, each used by one task at a time. A connection is checked before it is used again.
 *
 * @param <C> a connection
 */
public final class ConnectionPool<C> {
    /** How a sink opens, checks and closes connections. The methods throw {@link SinkException}. */
    public interface Client<C> {
        C connect();

        /** Whether a connection responds and has no command or transaction in progress. */
        boolean isUsable(C connection);

        /** Closes a connection, which may be broken. Throws no exception. */
        void close(C connection);
    }

    /** A use of a connection. */
    @FunctionalInterface
    public interface Work<C> {
        void run(C connection);
    }

    private final GenericObjectPool<C> pool;

    /** Creates a pool that opens as many connections as tasks run at once. */
    public ConnectionPool(Client<C> client) {
        GenericObjectPoolConfig<C> config = new GenericObjectPoolConfig<>();
        config.setMaxTotal(-1);
        config.setMaxIdle(-1);
        config.setTestOnBorrow(true);
        config.setJmxEnabled(false);
        pool = new GenericObjectPool<>(new Factory<>(client), config);
    }

    /**
     * Uses a connection. It is closed if {@code work} fails.
     *
     * @throws SinkException the server does not answer or refuses this client; and what {@code work} throws
     */
    public void use(Work<C> work) {
        C connection = borrow();
        try {
            work.run(connection);
        } catch (RuntimeException error) {
            discard(connection);
            throw error;
        }
        pool.returnObject(connection);
    }

    private C borrow() {
        try {
            return pool.borrowObject();
        } catch (RuntimeException error) {
            throw error;
        } catch (Exception error) { // declared by the pool, but never thrown here
            throw new IllegalStateException(error);
        }
    }

    private void discard(C connection) {
        try {
            pool.invalidateObject(connection);
        } catch (Exception error) {
            // The connection is not used again, so the error does not matter.
        }
    }

    private static final class Factory<C> extends BasePooledObjectFactory<C> {
        private final Client<C> client;

        Factory(Client<C> client) {
            this.client = client;
        }

        @Override
        public C create() {
            return client.connect();
        }

        @Override
        public PooledObject<C> wrap(C connection) {
            return new DefaultPooledObject<>(connection);
        }

        @Override
        public boolean validateObject(PooledObject<C> pooled) {
            return pooled.getBorrowedCount() <= 1 || client.isUsable(pooled.getObject()); // a new connection is usable
        }

        @Override
        public void destroyObject(PooledObject<C> pooled) {
            client.close(pooled.getObject());
        }
    }
}
