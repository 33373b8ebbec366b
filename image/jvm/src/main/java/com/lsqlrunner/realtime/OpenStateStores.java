package com.lsqlrunner.realtime;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.errors.Unchecked;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.streaming.state.ReadStateStore;
import org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider;
import org.apache.spark.sql.execution.streaming.state.StateStore;
import org.apache.spark.sql.execution.streaming.state.StateStoreCheckpointInfo;
import org.apache.spark.sql.execution.streaming.state.StateStoreIterator;
import org.apache.spark.sql.execution.streaming.state.StateStoreMetrics;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;
import scala.collection.Iterator$;
import scala.collection.immutable.Map$;
import scala.runtime.BoxedUnit;

/**
 * RocksDB stores that stay open from an open batch to the batch that commits its changes. In the tasks of an open
 * batch, a commit does nothing. The next task of Spark's scheduler that asks for the store takes it with all changes.
 */
@PythonEntry
public final class OpenStateStores extends RocksDBStateStoreProvider {
    private static final Set<OpenStateStores> OPEN = ConcurrentHashMap.newKeySet();

    /** By place of the state: the stores that can be read, while {@link #isRead} is true. */
    private static final ConcurrentMap<Place, OpenStateStores> READABLE = new ConcurrentHashMap<>();

    private static volatile boolean isRead;

    private StateStore store;
    private long version;
    private CommittedVersion committed;

    /** By folder of the state: the ids of the last committed versions, by operator and partition. */
    private static final ConcurrentMap<String, Map<Object, String[][]>> IDS = new ConcurrentHashMap<>();

    /** The session of the query of a thread. */
    private static final ThreadLocal<SparkSession> SESSION = new ThreadLocal<>();

    /**
     * Begins a plan with these stores, in the thread of a query. The log of its batches, which other versions read, has
     * the name of Spark's class, and so has a plan until its exchange is made: transformWithState refuses another one.
     */
    public static void plan(SparkSession session) {
        SESSION.set(session);
        useClass(session, RocksDBStateStoreProvider.class);
    }

    /** The exchange of a plan is made; the operators above it, which read the state, follow. */
    static void exchangeMade() {
        SparkSession session = SESSION.get();
        if (session != null) {
            useClass(session, OpenStateStores.class);
        }
    }

    private static void useClass(SparkSession session, Class<? extends RocksDBStateStoreProvider> provider) {
        session.conf().set(SQLConf.STATE_STORE_PROVIDER_CLASS().key(), provider.getName());
    }

    /** A partition of the state of an operator. */
    private record Place(String checkpoint, long operator, int partition) {}

    /** Sets whether committed state can be read. Stores that were loaded before cannot. */
    public static void keepCommitted(boolean isKept) {
        isRead = isKept;
    }

    /**
     * The committed state of an operator's partition; null before a batch has loaded it in this JVM.
     *
     * @param checkpoint the folder of the state
     */
    public static CommittedVersion committed(String checkpoint, long operator, int partition) {
        OpenStateStores stores = READABLE.get(new Place(checkpoint, operator, partition));
        return stores == null ? null : stores.committed;
    }

    /** Sets the ids of the last committed versions of a query's stores. */
    static void begin(String checkpoint, Map<Object, String[][]> ids) {
        IDS.put(checkpoint, ids);
    }

    /** Forgets the changes of the open stores of a query. */
    static void abort(String checkpoint) {
        OPEN.stream()
                .filter(each -> each.stateStoreId().checkpointRootLocation().equals(checkpoint))
                .forEach(OpenStateStores::abort);
    }

    /** The query has ended. */
    static void end(String checkpoint) {
        abort(checkpoint);
        IDS.remove(checkpoint);
    }

    private synchronized void abort() {
        if (store != null) {
            store.abort();
            store = null;
        }
        OPEN.remove(this);
    }

    private Place place() {
        return new Place(
                stateStoreId().checkpointRootLocation(),
                stateStoreId().operatorId(),
                stateStoreId().partitionId());
    }

    private <T extends StateStore> T load(long of, Supplier<T> loading) {
        if (!isRead) {
            return loading.get();
        }
        synchronized (this) {
            if (committed == null) {
                committed = new CommittedVersion(this::rocksDB);
            }
        }
        READABLE.put(place(), this);
        return committed.load(of, loading);
    }

    @Override
    public void close() {
        if (committed == null) {
            super.close();
        } else {
            READABLE.remove(place(), this);
            committed.close(super::close);
        }
    }

    @Override
    public StateStore getStore(long of, Option<String> id, boolean forced, boolean empty) {
        if (OpenTask.current() != null) {
            return opened(of, id, forced, empty);
        }
        StateStore taken = take(of);
        return taken == null ? load(of, () -> super.getStore(of, id, forced, empty)) : taken;
    }

    @Override
    public StateStore getReadStore(long of, Option<String> id) {
        synchronized (this) {
            if (OpenTask.current() == null && (store == null || version != of)) {
                return load(of, () -> super.getReadStore(of, id));
            }
        }
        return opened(of, id, false, false);
    }

    @Override
    public StateStore upgradeReadStoreToWriteStore(ReadStateStore read, long of, Option<String> id, boolean forced) {
        if (OpenTask.current() != null) {
            return opened(of, id, forced, false);
        }
        StateStore taken = take(of);
        return taken == null ? load(of, () -> super.upgradeReadStoreToWriteStore(read, of, id, forced)) : taken;
    }

    private synchronized StateStore opened(long of, Option<String> id, boolean forced, boolean empty) {
        if (store == null) {
            // Else the store would be closed at the end of the task.
            store = withoutTask(() -> load(of, () -> super.getStore(of, committedId(), forced, empty)));
            version = of;
            OPEN.add(this);
        }
        return uncommitted(store);
    }

    private Option<String> committedId() {
        String[][] ofOperator = IDS.get(stateStoreId().checkpointRootLocation())
                .get(stateStoreId().operatorId());
        return Option.apply(
                ofOperator == null ? null : ofOperator[stateStoreId().partitionId()][0]);
    }

    private synchronized StateStore take(long of) {
        StateStore taken = store;
        if (taken == null) {
            return null;
        }
        OPEN.remove(this);
        store = null;
        if (version != of) {
            taken.abort();
            return null;
        }
        TaskContext.get().addTaskCompletionListener(task -> {
            if (!taken.hasCommitted()) {
                taken.abort();
            }
        });
        return taken;
    }

    private static StateStore uncommitted(StateStore store) {
        return (StateStore) Proxy.newProxyInstance(
                OpenStateStores.class.getClassLoader(),
                new Class<?>[] {StateStore.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "commit" -> store.version() + 1;
                    case "abort", "release" -> null;
                    case "getStateStoreCheckpointInfo" ->
                        new StateStoreCheckpointInfo(
                                store.id().partitionId(), store.version() + 1, Option.empty(), Option.empty());
                    case "hasCommitted" -> true;
                    // The batch removes the groups whose windows have ended, and runs the timers that are due.
                    case "iterator", "rangeScan" ->
                        new StateStoreIterator<>(Iterator$.MODULE$.empty(), () -> BoxedUnit.UNIT);
                    case "metrics" -> new StateStoreMetrics(0, 0, Map$.MODULE$.empty(), Map$.MODULE$.empty());
                    // Each scan would leave a listener in its task, which does not end for a long time.
                    case "prefixScan" -> withoutTask(() -> called(store, method, arguments));
                    default -> called(store, method, arguments);
                });
    }

    private static Object called(StateStore store, Method method, Object[] arguments) {
        try {
            return method.invoke(store, arguments);
        } catch (InvocationTargetException error) {
            throw Unchecked.thrown(error.getCause());
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible); // the methods of an interface are public
        }
    }

    private static <T> T withoutTask(Supplier<T> call) {
        TaskContext task = TaskContext.get();
        TaskContext$.MODULE$.unset();
        try {
            return call.get();
        } finally {
            TaskContext$.MODULE$.setTaskContext(task);
        }
    }
}
