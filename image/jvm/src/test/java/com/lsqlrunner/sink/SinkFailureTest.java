package com.lsqlrunner.sink;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class SinkFailureTest {
  private static final SinkTable TABLE =
      new SinkTable("t", List.of("id", "name"), List.of("long", "string"), List.of("id"), true, false, 10, "");

  private static JsonNode json(SinkFailure failure) throws Exception {
    String message = failure.getMessage();
    assertEquals("[LSQL_SINK] ", message.substring(0, 12));
    return new ObjectMapper().readTree(message.substring(12));
  }

  @Test
  void tellsKindAndReasonInOneLineWhateverTheServerSays() throws Exception {
    SinkFailure failure = SinkFailure.of(SinkFailure.Kind.REFUSED, "a \"name\"\n\tis \\ grün " + (char) 1);

    assertEquals("REFUSED", json(failure).get("kind").asText());
    assertEquals("a \"name\" is \\ grün " + (char) 1, json(failure).get("why").asText());
    assertEquals(1, failure.getMessage().lines().count());
  }

  @Test
  void tellsTheRecordOfARow() throws Exception {
    JsonNode said = json(SinkFailure.row(TABLE, new SinkRow("topic", 3, 1L << 40, false, new Object[] {1L, "a"}), "no"));

    assertEquals("topic", said.get("topic").asText());
    assertEquals(3, said.get("partition").asInt());
    assertEquals(1L << 40, said.get("offset").asLong());
  }

  @Test
  void namesARowWithoutARecordByItsKey() throws Exception {
    JsonNode said = json(SinkFailure.row(TABLE, new SinkRow(null, 0, 0, false, new Object[] {7L, "a"}), "no"));

    assertEquals("id=7", said.get("row").asText());
    assertNull(said.get("topic"));
  }

  @Test
  void travelsFromATaskToTheDriver() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SinkFailure failure = SinkFailure.of(SinkFailure.Kind.PASSING, "why");
    failure.addSuppressed(new Exception() {
      private static final long serialVersionUID = 1;
      @SuppressWarnings("unused")
      private final Object notForTheWire = new Object();
    });
    new ObjectOutputStream(bytes).writeObject(failure);

    Object read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();

    assertEquals(failure.getMessage(), ((SinkFailure) read).getMessage());
  }
}
