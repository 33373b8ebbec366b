package com.lsqlrunner.realtime;

import com.lsqlrunner.errors.Unchecked;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import org.apache.spark.sql.execution.streaming.state.RocksDB;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;

/**
 * The committed content of a RocksDB store, for other threads than the one that changes it: a snapshot of RocksDB.
 * Spark may close the database when it loads a version, which fails with a snapshot, so a load waits for the reads.
 */
public final class CommittedVersion {
    /** Spark keeps its database to itself. */
    private static final Method DATABASE = method("db");

    private static final byte[] NO_KEY = {};

    private static final Method WITH_VARIABLE = method("encodeStateRowWithPrefix", byte[].class, String.class);

    private final Supplier<RocksDB> store;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private org.rocksdb.RocksDB database;
    private Snapshot snapshot;
    private ReadOptions options;
    private long version;

    /** The last store that was loaded; null before the first, and after a load that has failed. */
    private StateStore last;

    CommittedVersion(Supplier<RocksDB> store) {
        this.store = store;
    }

    /** A key and its value, as RocksDB has them. */
    public record Entry(byte[] key, byte[] value) {}

    /** The version is not, or no longer, in memory. */
    public static final class Gone extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Loads a version of the store, which its query has committed. */
    <T extends StateStore> T load(long ofBatch, Supplier<T> loading) {
        lock.writeLock().lock();
        try {
            release();
            T loaded = loading.get();
            last = loaded;
            take(ofBatch);
            return loaded;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Closes the database. */
    void close(Runnable closing) {
        lock.writeLock().lock();
        try {
            release();
            closing.run();
        } finally {
            lock.writeLock().unlock();
        }
    }

    private void take(long content) {
        database = open();
        snapshot = database.getSnapshot();
        options = new ReadOptions().setSnapshot(snapshot);
        version = content;
    }

    private void release() {
        last = null;
        if (snapshot != null) {
            options.close();
            database.releaseSnapshot(snapshot);
            snapshot = null;
        }
    }

    private org.rocksdb.RocksDB open() {
        return (org.rocksdb.RocksDB) invoked(DATABASE);
    }

    /** A key of a variable as the database has it: after the number of the variable. */
    private byte[] inDatabase(String variable, byte[] key) {
        return variable == null ? key : (byte[]) invoked(WITH_VARIABLE, key, variable);
    }

    private Object invoked(Method method, Object... arguments) {
        try {
            return method.invoke(store.get(), arguments);
        } catch (ReflectiveOperationException changed) {
            throw Unchecked.thrown(changed);
        }
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            Method found = RocksDB.class.getDeclaredMethod(name, parameters);
            found.setAccessible(true);
            return found;
        } catch (NoSuchMethodException changed) {
            throw Unchecked.thrown(changed);
        }
    }

    /**
     * The version that can be read; a negative number without one.
     *
     * @param committed the last version that the query has committed, as far as the caller knows: a store may be ahead
     *     of it
     */
    public long readable(long committed) {
        lock.readLock().lock();
        try {
            if (snapshot == null) {
                return -1;
            }
            boolean isAhead = last != null && last.hasCommitted() && last.version() >= version;
            if (!isAhead || last.version() >= committed) {
                return version;
            }
        } finally {
            lock.readLock().unlock();
        }
        return afterCommit();
    }

    /** Takes the content after the last batch, unless another one has begun. */
    private long afterCommit() {
        lock.writeLock().lock();
        try {
            if (last != null && last.hasCommitted() && last.version() >= version) {
                long after = last.version() + 1;
                StateStore committed = last;
                release();
                last = committed;
                take(after);
            }
            return snapshot == null ? -1 : version;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /**
     * The value of a key; null without one.
     *
     * @param variable the state variable; null if the operator has no variables
     * @throws Gone the version cannot be read
     */
    public byte[] get(long of, String variable, byte[] key) throws Gone {
        lock.readLock().lock();
        try {
            ReadOptions reading = optionsOf(of);
            return database.get(reading, inDatabase(variable, key));
        } catch (RocksDBException error) {
            throw Unchecked.thrown(error);
        } finally {
            lock.readLock().unlock();
        }
    }

    /**
     * The next entries in the order of their keys.
     *
     * @param variable as in {@link #get}
     * @param after the key before them; null for the first entries
     * @throws Gone the version cannot be read
     */
    public List<Entry> next(long of, String variable, byte[] after, int most) throws Gone {
        lock.readLock().lock();
        try (RocksIterator entries = database.newIterator(optionsOf(of))) {
            byte[] prefix = inDatabase(variable, NO_KEY);
            byte[] first = after == null ? prefix : inDatabase(variable, after);
            entries.seek(first);
            if (after != null && entries.isValid() && Arrays.equals(entries.key(), first)) {
                entries.next();
            }
            List<Entry> found = new ArrayList<>();
            for (; found.size() < most && entries.isValid(); entries.next()) {
                byte[] key = entries.key();
                if (!Arrays.equals(key, 0, Math.min(key.length, prefix.length), prefix, 0, prefix.length)) {
                    break;
                }
                found.add(new Entry(Arrays.copyOfRange(key, prefix.length, key.length), entries.value()));
            }
            return found;
        } finally {
            lock.readLock().unlock();
        }
    }

    private ReadOptions optionsOf(long of) throws Gone {
        if (snapshot == null || version != of) {
            throw new Gone();
        }
        return options;
    }
}
