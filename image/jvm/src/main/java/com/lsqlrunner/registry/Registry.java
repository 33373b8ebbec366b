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
 * The schemas of a registry by their ids. Each is asked for once, since the schema of an id never changes. Expressions
 * refer to a registry by name: plans are shown to users, and the connection settings contain secrets.
 */
@PythonEntry
public final class Registry {
    private static final ConcurrentMap<String, Registry> NAMED = new ConcurrentHashMap<>();

    private final SchemaSource source;
    private final ConcurrentMap<Integer, Entry<Schema>> entries = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Entry<String>> files = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Object> kept = new ConcurrentHashMap<>();

    private Registry(SchemaSource source) {
        this.source = source;
    }

    /**
     * Makes a registry known to this JVM, in place of one that had the name. Nothing is asked yet.
     *
     * @param settings what {@link RegistrySettings#of} takes
     */
    public static void register(String name, Map<String, String> settings) {
        NAMED.put(name, new Registry(new RemoteSchemas(settings)));
    }

    /**
     * Makes schemas known to this JVM as those of a registry that nobody has to be asked for, in place of one that had
     * the name.
     *
     * @param schemas by id: JSON of Avro without references, or a file of Protobuf
     */
    public static void give(String name, Map<Integer, String> schemas) {
        NAMED.put(name, new Registry(new GivenSchemas(schemas)));
    }

    /** The registry of a name. */
    public static Registry named(String name) {
        Registry registry = NAMED.get(name);
        if (registry == null) {
            throw new IllegalStateException("no schema registry is registered under the name " + name);
        }
        return registry;
    }

    /**
     * An object that is made once for a name and lives as long as this registry, shared by all tasks: what it knows of
     * schemas outlives them.
     */
    public <T> T shared(String key, Class<T> type, Supplier<T> make) {
        return type.cast(kept.computeIfAbsent(key, name -> make.get()));
    }

    /**
     * The schema that an id stands for.
     *
     * @throws MalformedRecordException there is none, or none of Avro
     * @throws RegistryException the registry does not say
     */
    public Schema schema(int id) {
        try {
            return known(entries, id, source::avro);
        } catch (AvroRuntimeException error) {
            throw new MalformedRecordException("schema %d cannot be read: %s".formatted(id, error.getMessage()));
        }
    }

    /**
     * The text of the {@code .proto} file that an id stands for.
     *
     * @throws MalformedRecordException there is none, or none of Protobuf
     * @throws RegistryException the registry does not say
     */
    public String protobuf(int id) {
        return known(files, id, source::protobuf);
    }

    private static <T> T known(ConcurrentMap<Integer, Entry<T>> entries, int id, IntFunction<T> source) {
        Entry<T> entry = entries.computeIfAbsent(id, key -> new Entry<>());
        synchronized (entry) { // one question at a time; who waits finds the answer
            if (entry.schema == null) {
                entry.schema = source.apply(id);
            }
            if (entry.schema == null) {
                throw new MalformedRecordException("the registry knows no schema " + Integer.toUnsignedString(id));
            }
            return entry.schema;
        }
    }

    private static final class Entry<T> {
        private T schema;
    }
}
