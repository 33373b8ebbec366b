package com.lsqlrunner.registry;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.errors.MalformedRecordException;
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

    private final SchemaSource source;
    private final ConcurrentMap<Integer, Entry<Schema>> entries = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Entry<String>> files = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Object> shared = new ConcurrentHashMap<>();

    private Registry(SchemaSource source) {
        this.source = source;
    }

    /**
     * Registers a registry under a name in this JVM, replacing the one with that name. No request is sent yet.
     *
     * @param settings the settings that {@link RegistrySettings#of} accepts
     */
    public static void register(String name, Map<String, String> settings) {
        NAMED.put(name, new Registry(new RemoteSchemas(settings)));
    }

    /**
     * Registers schemas under a name in this JVM, replacing the registry with that name. They are used without
     * requests.
     *
     * @param schemas by id: the JSON of an Avro schema without references, or the text of a {@code .proto} file
     */
    public static void registerSchemas(String name, Map<Integer, String> schemas) {
        NAMED.put(name, new Registry(new FixedSchemas(schemas)));
    }

    /** The registry with a name. */
    public static Registry named(String name) {
        Registry registry = NAMED.get(name);
        if (registry == null) {
            throw new IllegalStateException("no schema registry is registered under the name " + name);
        }
        return registry;
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
