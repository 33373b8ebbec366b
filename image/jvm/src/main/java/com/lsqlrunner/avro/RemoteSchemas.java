package com.lsqlrunner.avro;

import com.fasterxml.jackson.databind.JsonNode;
import com.lsqlrunner.expression.Malformed;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.avro.Schema;

/** Schemas that a registry is asked for, over HTTP. */
final class RemoteSchemas implements IntFunction<Schema> {
  private final RegistryHttp http;

  /** @param settings what {@link RegistrySettings#of} takes */
  RemoteSchemas(Map<String, String> settings) {
    http = new RegistryHttp(RegistrySettings.of(settings));
  }

  @Override
  public Schema apply(int id) {
    JsonNode answer = id < 0 ? null : http.get("/schemas/ids/" + id);
    if (answer == null) {
      return null;
    }
    String type = answer.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      throw new Malformed("schema %d is one of %s, not of AVRO".formatted(id, type));
    }
    Schema.Parser parser = CatalystTypes.parser();
    addReferences(answer, parser, new HashSet<>());
    return CatalystTypes.parsed(answer.path("schema").asText(), parser);
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
}
