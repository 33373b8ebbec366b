package com.lsqlrunner.sink;

import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

/**
 * Connections to a server, used by one task at a time. One that was used before is checked before it is used again.
 *
 * @param <C> a connection
 */
public final class ConnectionPool<C> {
    /** What a sink does with connections. The methods throw {@link SinkException}. */
    public interface Client<C> {
        C connect();

        /** Whether a connection still answers and has nothing under way. */
        boolean isUsable(C connection);

        /** Gives a connection up. Nothing is thrown: it may be broken. */
        void close(C connection);
    }

    /** What is done with a connection. */
    @FunctionalInterface
    public interface Work<C> {
        void on(C connection);
    }

    private final GenericObjectPool<C> pool;

    /** A pool that opens as many connections as there are tasks at once. */
    public ConnectionPool(Client<C> client) {
        GenericObjectPoolConfig<C> config = new GenericObjectPoolConfig<>();
        config.setMaxTotal(-1);
        config.setMaxIdle(-1);
        config.setTestOnBorrow(true);
        config.setJmxEnabled(false);
        pool = new GenericObjectPool<>(new Factory<>(client), config);
    }

    /**
     * Does something with a connection. One on which it fails is closed.
     *
     * @throws SinkException nobody answers, or the server refuses this client; and what {@code work} throws
     */
    public void use(Work<C> work) {
        C connection = borrowed();
        try {
            work.on(connection);
        } catch (RuntimeException error) {
            discard(connection);
            throw error;
        }
        pool.returnObject(connection);
    }

    private C borrowed() {
        try {
            return pool.borrowObject();
        } catch (RuntimeException error) {
            throw error;
        } catch (Exception error) { // declared by the pool, thrown by nothing here
            throw new IllegalStateException(error);
        }
    }

    private void discard(C connection) {
        try {
            pool.invalidateObject(connection);
        } catch (Exception error) {
            // It is not used again, whatever closing it says.
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
            return pooled.getBorrowedCount() <= 1 || client.isUsable(pooled.getObject()); // a new one is
        }

        @Override
        public void destroyObject(PooledObject<C> pooled) {
            client.close(pooled.getObject());
        }
    }
}
