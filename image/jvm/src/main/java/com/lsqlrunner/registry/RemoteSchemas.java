package com.lsqlrunner.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.lsqlrunner.errors.MalformedRecordException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.avro.Schema;

/** Schemas that are requested from a registry over HTTP. */
final class RemoteSchemas implements SchemaSource {
    private final RegistryHttp http;

    /** @param settings the settings that {@link RegistrySettings#of} accepts */
    RemoteSchemas(Map<String, String> settings) {
        http = new RegistryHttp(RegistrySettings.of(settings));
    }

    @Override
    public Schema avro(int id) {
        JsonNode response = request(id, "AVRO");
        if (response == null) {
            return null;
        }
        Schema.Parser parser = AvroSchemaParser.parser();
        addReferences(response, parser, new HashSet<>());
        return AvroSchemaParser.parse(response.path("schema").asText(), parser);
    }

    @Override
    public String protobuf(int id) {
        JsonNode response = request(id, "PROTOBUF");
        return response == null ? null : response.path("schema").asText();
    }

    private JsonNode request(int id, String type) {
        JsonNode response = id < 0 ? null : http.get("/schemas/ids/" + id);
        String foundType = response == null ? type : response.path("schemaType").asText("AVRO");
        if (!foundType.equals(type)) {
            throw new MalformedRecordException("schema %d is of the type %s, not %s".formatted(id, foundType, type));
        }
        return response;
    }

    /** Adds the references of a schema to a parser, innermost first. */
    private void addReferences(JsonNode response, Schema.Parser parser, Set<String> seen) {
        for (JsonNode reference : response.path("references")) {
            String subject = reference.path("subject").asText();
            String path = "/subjects/%s/versions/%s"
                    .formatted(
                            RegistryHttp.escaped(subject),
                            reference.path("version").asText());
            if (seen.add(path)) {
                JsonNode referenced = http.get(path);
                if (referenced == null) {
                    throw new MalformedRecordException("the registry has no version "
                            + reference.path("version").asText() + " of " + subject);
                }
                addReferences(referenced, parser, seen);
                AvroSchemaParser.parse(referenced.path("schema").asText(), parser);
            }
        }
    }
}
