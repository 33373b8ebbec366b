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

  static Serde<ObjectNode> objects() {
    return serde(ObjectNode.class);
  }

  static Serde<ArrayNode> arrays() {
    return serde(ArrayNode.class);
  }

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** A field as text; null where it is null or missing, or there is no row at all. */
  static String text(ObjectNode row, String field) {
    return row == null || !row.hasNonNull(field) ? null : row.get(field).textValue();
  }

  /** A field, or JSON's null where it is missing, or there is no row at all. */
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
