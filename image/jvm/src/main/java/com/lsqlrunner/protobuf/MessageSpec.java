package com.lsqlrunner.protobuf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of a {@code .proto} file.
 *
 * @param name within its file: {@code Outer.Inner}
 * @param indexes in its file: the index of the top-level message, then of each nested one
 */
record MessageSpec(String name, List<Integer> indexes, List<FieldSpec> fields) {

    /** Parses the JSON with which the driver describes a message. */
    static MessageSpec of(String json) {
        JsonNode message;
        try {
            message = new ObjectMapper().readTree(json);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("a message is described in JSON: " + error.getOriginalMessage(), error);
        }
        List<Integer> indexes = new ArrayList<>();
        message.get("indexes").forEach(number -> indexes.add(number.asInt()));
        return new MessageSpec(message.get("name").asText(), indexes, FieldSpec.of(message.get("fields")));
    }
}
