package com.lsqlrunner.registry;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.errors.MalformedRecordException;
import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/**
 * The schemas of a registry by id. Each schema is requested once, because the schema of an id never changes.
 * Expressions refer to a registry by name: plans are shown to users, and the connection settings contain secrets.
 */
@PythonEntry
public final class Registry {
    private static final ConcurrentMap<String, Registry> NAMED = new ConcurrentHashMap<>();

    /** Asks the driver for a registry; null in the driver. */
    private static volatile Driver driver;

    private final Definition definition;
    private final SchemaSource source;
    private final ConcurrentMap<Integer, Entry<Schema>> entries = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Entry<String>> files = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Object> shared = new ConcurrentHashMap<>();

    /**
     * The definition of a registry.
     *
     * @param settings of the connection; null for fixed schemas
     * @param schemas by id; null for a connection
     */
    record Definition(Map<String, String> settings, Map<Integer, String> schemas) implements Serializable {
        private static final long serialVersionUID = 1L;

        private Registry registry() {
            return new Registry(this, settings == null ? new FixedSchemas(schemas) : new RemoteSchemas(settings));
        }

        /** Without the settings, which have credentials. */
        @Override
        public String toString() {
            return "Definition of a registry";
        }
    }

    /** The driver, from an executor. */
    @FunctionalInterface
    interface Driver {
        /** The definition of a registry that is registered in the driver. */
        Definition ask(String name) throws Exception;
    }

    private Registry(Definition definition, SchemaSource source) {
        this.definition = definition;
        this.source = source;
    }

    /** Makes this JVM ask the driver for a registry when it is first used. */
    static void askFor(Driver other) {
        driver = other;
    }

    /**
     * Registers a registry under a name in this JVM, replacing an earlier one with this name. No request is sent yet.
     *
     * @param settings the settings that {@link RegistrySettings#of} accepts
     */
    public static void register(String name, Map<String, String> settings) {
        NAMED.put(name, new Definition(Map.copyOf(settings), null).registry());
    }

    /**
     * Registers schemas under a name in this JVM, replacing an earlier registry with this name. No requests are sent
     * for them.
     *
     * @param schemas by id: the JSON of an Avro schema without references, or the text of a {@code .proto} file
     */
    public static void registerSchemas(String name, Map<Integer, String> schemas) {
        NAMED.put(name, new Definition(null, Map.copyOf(schemas)).registry());
    }

    /** The registry with a name. An executor asks the driver for it once. */
    public static Registry named(String name) {
        Registry registry = NAMED.get(name);
        if (registry == null && driver != null) {
            registry = NAMED.computeIfAbsent(name, Registry::ofDriver);
        }
        if (registry == null) {
            throw new IllegalStateException("no schema registry is registered under the name " + name);
        }
        return registry;
    }

    private static Registry ofDriver(String name) {
        try {
            return driver.ask(name).registry();
        } catch (RuntimeException error) {
            throw error;
        } catch (Exception error) {
            throw new IllegalStateException("the driver does not tell the schema registry " + name, error);
        }
    }

    Definition definition() {
        return definition;
    }

    /**
     * An object that is created once for each key and lives as long as this registry. Tasks share it, so they keep the
     * schemas that earlier tasks requested.
     */
    public <T> T shared(String key, Class<T> type, Supplier<T> create) {
        return type.cast(shared.computeIfAbsent(key, name -> create.get()));
    }

    /**
     * The Avro schema of an id.
     *
     * @throws MalformedRecordException there is no such schema, or it is not an Avro schema
     * @throws RegistryException the registry does not return it
     */
    public Schema schema(int id) {
        try {
            return fetch(entries, id, source::avro);
        } catch (AvroRuntimeException error) {
            throw new MalformedRecordException("schema %d cannot be read: %s".formatted(id, error.getMessage()));
        }
    }

    /**
     * The text of the {@code .proto} file of a schema id.
     *
     * @throws MalformedRecordException there is no such schema, or it is not a Protobuf schema
     * @throws RegistryException the registry does not return it
     */
    public String protobuf(int id) {
        return fetch(files, id, source::protobuf);
    }

    private static <T> T fetch(ConcurrentMap<Integer, Entry<T>> entries, int id, IntFunction<T> source) {
        Entry<T> entry = entries.computeIfAbsent(id, key -> new Entry<>());
        synchronized (entry) { // one request at a time; waiting threads use its result
            if (entry.schema == null) {
                entry.schema = source.apply(id);
            }
            if (entry.schema == null) {
                throw new MalformedRecordException("the registry has no schema " + Integer.toUnsignedString(id));
            }
            return entry.schema;
        }
    }

    private static final class Entry<T> {
        private T schema;
    }
}
