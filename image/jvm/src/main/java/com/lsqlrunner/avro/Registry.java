package com.lsqlrunner.avro;

import com.fasterxml.jackson.databind.JsonNode;
import com.lsqlrunner.expression.Malformed;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/**
 * The schemas of a registry by their ids, each asked for once: an id never means anything else. Expressions know it by
 * a name, since they are shown to users, and how it is reached holds secrets.
 */
public final class Registry {
  private static final ConcurrentMap<String, Registry> NAMED = new ConcurrentHashMap<>();

  private final RegistryHttp http;
  private final ConcurrentMap<Integer, Entry> entries = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, RecordDecoder> decoders = new ConcurrentHashMap<>();

  private Registry(RegistrySettings settings) {
    http = new RegistryHttp(settings);
  }

  /**
   * Makes a registry known to this JVM, in place of one that had the name. Nothing is asked yet.
   *
   * @param settings what {@link RegistrySettings#of} takes
   */
  public static void register(String name, Map<String, String> settings) {
    NAMED.put(name, new Registry(RegistrySettings.of(settings)));
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
    JsonNode answer = id < 0 ? null : http.get("/schemas/ids/" + id);
    if (answer == null) {
      throw new Malformed("the registry knows no schema " + Integer.toUnsignedString(id));
    }
    String type = answer.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      throw new Malformed("schema %d is one of %s, not of AVRO".formatted(id, type));
    }
    try {
      Schema.Parser parser = CatalystTypes.parser();
      addReferences(answer, parser, new HashSet<>());
      return CatalystTypes.parsed(answer.path("schema").asText(), parser);
    } catch (AvroRuntimeException error) {
      throw new Malformed("schema %d cannot be read: %s".formatted(id, error.getMessage()));
    }
  }

  /** Lets a parser know what a schema refers to, the innermost first. */
  private void addReferences(JsonNode answer, Schema.Parser parser, Set<String> seen) {
    for (JsonNode reference : answer.path("references")) {
      String subject = reference.path("subject").asText();
      String path = "/subjects/%s/versions/%s".formatted(RegistryHttp.escaped(subject), reference.path("version").asText());
      if (seen.add(path)) {
        JsonNode found = http.get(path);
        if (found == null) {
          throw new Malformed("the registry has no version " + reference.path("version").asText() + " of " + subject);
        }
        addReferences(found, parser, seen);
        CatalystTypes.parsed(found.path("schema").asText(), parser);
      }
    }
  }

  private static final class Entry {
    private Schema schema;
  }
}
