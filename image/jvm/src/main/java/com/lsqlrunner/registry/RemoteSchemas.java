package com.lsqlrunner.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.lsqlrunner.errors.MalformedRecordException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;

/** SchemaSource that a registry is asked for, over HTTP. */
final class RemoteSchemas implements SchemaSource {
    private final RegistryHttp http;

    /** @param settings what {@link RegistrySettings#of} takes */
    RemoteSchemas(Map<String, String> settings) {
        http = new RegistryHttp(RegistrySettings.of(settings));
    }

    @Override
    public Schema avro(int id) {
        JsonNode answer = asked(id, "AVRO");
        if (answer == null) {
            return null;
        }
        Schema.Parser parser = AvroTexts.parser();
        addReferences(answer, parser, new HashSet<>());
        return AvroTexts.parse(answer.path("schema").asText(), parser);
    }

    @Override
    public String protobuf(int id) {
        JsonNode answer = asked(id, "PROTOBUF");
        return answer == null ? null : answer.path("schema").asText();
    }

    private JsonNode asked(int id, String kind) {
        JsonNode answer = id < 0 ? null : http.get("/schemas/ids/" + id);
        String found = answer == null ? kind : answer.path("schemaType").asText("AVRO");
        if (!found.equals(kind)) {
            throw new MalformedRecordException("schema %d is one of %s, not of %s".formatted(id, found, kind));
        }
        return answer;
    }

    /** Lets a parser know what a schema refers to, the innermost first. */
    private void addReferences(JsonNode answer, Schema.Parser parser, Set<String> seen) {
        for (JsonNode reference : answer.path("references")) {
            String subject = reference.path("subject").asText();
            String path = "/subjects/%s/versions/%s"
                    .formatted(
                            RegistryHttp.escaped(subject),
                            reference.path("version").asText());
            if (seen.add(path)) {
                JsonNode found = http.get(path);
                if (found == null) {
                    throw new MalformedRecordException("the registry has no version "
                            + reference.path("version").asText() + " of " + subject);
                }
                addReferences(found, parser, seen);
                AvroTexts.parse(found.path("schema").asText(), parser);
            }
        }
    }
}
