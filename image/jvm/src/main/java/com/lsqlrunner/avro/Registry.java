package com.lsqlrunner.avro;

import com.lsqlrunner.expression.Malformed;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntFunction;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/**
 * The schemas of a registry by their ids, each asked for once: an id never means anything else. Expressions know it by
 * a name, since they are shown to users, and how it is reached holds secrets.
 */
public final class Registry {
  private static final ConcurrentMap<String, Registry> NAMED = new ConcurrentHashMap<>();

  private final IntFunction<Schema> source;
  private final ConcurrentMap<Integer, Entry> entries = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, RecordDecoder> decoders = new ConcurrentHashMap<>();

  /**
   * @param source the schema of an id, null where there is none; it may throw {@link Malformed}, {@link
   *     RegistryFailure}, and AvroRuntimeException for a text that is no schema
   */
  private Registry(IntFunction<Schema> source) {
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
   * Makes schemas known to this JVM as those of a registry that nobody has to be asked for, in place of one that had the
   * name.
   *
   * @param schemas JSON of Avro by id, each without references
   */
  public static void give(String name, Map<Integer, String> schemas) {
    NAMED.put(name, new Registry(new GivenSchemas(schemas)));
  }

  /** The registry of a name. */
  static Registry named(String name) {
    Registry registry = NAMED.get(name);
    if (registry == null) {
      throw new IllegalStateException("no schema registry is registered under the name " + name);
    }
    return registry;
  }

  /** The decoder of a schema, shared by all tasks: what it knows of writers outlives them. */
  RecordDecoder decoder(String reader) {
    return decoders.computeIfAbsent(reader, text -> new RecordDecoder(CatalystTypes.parsed(text), this::schema));
  }

  /**
   * The schema that an id stands for.
   *
   * @throws Malformed there is none, or none of Avro
   * @throws RegistryFailure the registry does not say
   */
  Schema schema(int id) {
    Entry entry = entries.computeIfAbsent(id, key -> new Entry());
    synchronized (entry) { // one question at a time; who waits finds the answer
      if (entry.schema == null) {
        entry.schema = asked(id);
      }
      return entry.schema;
    }
  }

  private Schema asked(int id) {
    Schema found;
    try {
      found = source.apply(id);
    } catch (AvroRuntimeException error) {
      throw new Malformed("schema %d cannot be read: %s".formatted(id, error.getMessage()));
    }
    if (found == null) {
      throw new Malformed("the registry knows no schema " + Integer.toUnsignedString(id));
    }
    return found;
  }

  private static final class Entry {
    private Schema schema;
  }
}
