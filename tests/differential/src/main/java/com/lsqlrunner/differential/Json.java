package com.lsqlrunner.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** JSON values as trees. */
final class Json {
  static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  static Serde<ObjectNode> objectSerde() {
    return serde(ObjectNode.class);
  }

  static Serde<ArrayNode> arraySerde() {
    return serde(ArrayNode.class);
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** A string field; null if it is missing or not a string, or if there is no row. */
  static String string(ObjectNode row, String field) {
    return row == null || !row.hasNonNull(field) ? null : row.get(field).textValue();
  }

  /** A field; JSON's null if it is missing, or if there is no row. */
  static JsonNode field(ObjectNode row, String field) {
    return row == null || !row.has(field) ? MAPPER.nullNode() : row.get(field);
  }

  private static <T extends JsonNode> Serde<T> serde(Class<T> kind) {
    return Serdes.serdeFrom(
        (topic, value) -> {
          try {
            return value == null ? null : MAPPER.writeValueAsBytes(value);
          } catch (IOException error) {
            throw new UncheckedIOException(error);
          }
        },
        (topic, data) -> {
          try {
            return data == null ? null : kind.cast(MAPPER.readTree(data));
          } catch (IOException error) {
            throw new UncheckedIOException(error);
          }
        });
  }
}
