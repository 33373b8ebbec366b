package com.lsqlrunner.errors;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;

/**
 * Which exceptions are faults of a record. The conditions that are come from the engine, which judges the death of a
 * query by the same; all else (brokers, the registry, memory, interrupts, faults of our own) is none.
 */
final class Faults {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern CONDITION = Pattern.compile("^\\[([A-Z][A-Z0-9_]+)(?:\\.[A-Z0-9_]+)?]\\s*([^\n]*)");
  private static final int LONGEST = 300;

  private final Map<String, Kind> kinds = new HashMap<>();
  private final Set<String> never = new HashSet<>();
  private final Pattern malformed;
  private final Pattern end;

  private Faults(JsonNode rules) {
    rules.get("kinds").properties().forEach(entry -> kinds.put(entry.getKey(), Kind.of(entry.getValue())));
    rules.get("never").forEach(condition -> never.add(condition.asText()));
    malformed = Pattern.compile(rules.get("malformed").asText());
    end = Pattern.compile(rules.get("end").asText());
  }

  /**
   * Rules in JSON: {@code kinds}, by condition its side and code; {@code never}, conditions that say nothing of a record;
   * {@code malformed}, a pattern of what is said of bytes that are not of their format, whatever the condition; {@code
   * end}, a pattern of where the reason in a message ends.
   */
  static Faults of(String rules) {
    try {
      return new Faults(JSON.readTree(rules));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  /** What an exception says of the record; null if it says nothing. */
  Fault find(Throwable thrown) {
    Fault found = null;
    Throwable root = thrown;
    for (Throwable error = thrown; error != null; error = error.getCause() == error ? null : error.getCause()) {
      root = error;
      String text = String.valueOf(error.getMessage());
      Matcher matcher = CONDITION.matcher(text);
      String condition = condition(error, matcher);
      if (error instanceof VirtualMachineError || error instanceof InterruptedException || never.contains(condition)) {
        return null;
      }
      Kind kind = kinds.get(condition);
      if (kind != null) {
        String reason = reason(matcher.reset().find() ? matcher.group(2) : text.lines().findFirst().orElse(""));
        found = new Fault(kind.side, malformed.matcher(reason).matches() ? kind.malformed : kind.code, condition + ": " + reason);
      }
    }
    // What Spark says of malformed bytes is the bytes; why they are comes from the parser.
    return found == null || root.getMessage() == null || !found.message().startsWith("MALFORMED_RECORD")
        ? found
        : new Fault(found.side(), found.code(), "MALFORMED_RECORD_IN_PARSING: " + reason(root.getMessage().lines().findFirst().orElse("")));
  }

  private static String condition(Throwable error, Matcher text) {
    String condition = error instanceof SparkThrowable spark ? spark.getCondition() : null;
    if (condition != null) {
      return condition.split("\\.", 2)[0];
    }
    return text.find() ? text.group(1) : "";
  }

  private String reason(String text) {
    Matcher rest = end.matcher(text);
    String kept = (rest.find() ? text.substring(0, rest.start()) : text).strip();
    kept = kept.endsWith(".") ? kept.substring(0, kept.length() - 1) : kept;
    return kept.length() <= LONGEST ? kept : kept.substring(0, LONGEST);
  }

  /** {@code malformed} is the code where the reason says that the bytes are at fault. */
  private record Kind(String side, String code, String malformed) {
    static Kind of(JsonNode node) {
      return new Kind(node.get(0).asText(), node.get(1).asText(), node.get(2).asText());
    }
  }
}
