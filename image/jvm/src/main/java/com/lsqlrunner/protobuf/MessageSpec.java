package com.lsqlrunner.protobuf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of a file.
 *
 * @param name within its file: {@code Outer.Inner}
 * @param place in its file: the number of the message, and of each within it
 */
record MessageSpec(String name, List<Integer> place, List<FieldSpec> fields) {

    /** Reads what the driver says of a message. */
    static MessageSpec of(String json) {
        JsonNode message;
        try {
            message = new ObjectMapper().readTree(json);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException("a message is described in JSON: " + error.getOriginalMessage(), error);
        }
        List<Integer> place = new ArrayList<>();
        message.get("place").forEach(number -> place.add(number.asInt()));
        return new MessageSpec(message.get("name").asText(), place, FieldSpec.of(message.get("fields")));
    }
}
