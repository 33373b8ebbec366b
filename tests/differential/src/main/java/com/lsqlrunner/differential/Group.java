package com.lsqlrunner.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Comparator;
import java.util.List;
import java.util.stream.StreamSupport;

/**
 * The aggregates of a group. The state is the list of all its rows, from which all results are computed after each
 * change. Kafka Streams only decides which rows are in the list.
 */
final class Group {
  /** The group of rows whose group is null. Kafka Streams skips null keys; in SQL these rows are a group. */
  static final String NONE = "null";

  private Group() {}

  static String of(ObjectNode row) {
    String group = Json.string(row, "g");
    return group == null ? NONE : group;
  }

  static ArrayNode with(ArrayNode rows, ObjectNode row) {
    return rows.deepCopy().add(row);
  }

  /** The rows without one that is equal to {@code row}. Null, which deletes the group, if no row remains. */
  static ArrayNode without(ArrayNode rows, ObjectNode row) {
    ArrayNode left = Json.array();
    boolean isFound = false;
    for (JsonNode each : rows) {
      if (!isFound && each.equals(row)) {
        isFound = true;
      } else {
        left.add(each);
      }
    }
    if (!isFound) {
      throw new IllegalStateException("the row is not in the group: " + row);
    }
    return left.isEmpty() ? null : left;
  }

  static ArrayNode both(ArrayNode one, ArrayNode other) {
    return one.deepCopy().addAll(other);
  }

  /**
   * The results by name: n is COUNT(*), c COUNT(v); s, lo, hi and m are SUM, MIN, MAX and AVG of v; ds, dlo, dhi and dm
   * of d; tlo and thi are MIN and MAX of t. The aggregates of {@link KeptValues} follow for v and, with the prefix t,
   * for t.
   */
  static ObjectNode results(ArrayNode rows) {
    ObjectNode found = Json.object();
    List<Long> longs = present(rows, "v").map(JsonNode::longValue).toList();
    List<Double> doubles = present(rows, "d").map(JsonNode::doubleValue).toList();
    found.put("n", (long) rows.size());
    found.put("c", (long) longs.size());
    long total = longs.stream().mapToLong(Long::longValue).sum();
    double sum = doubles.stream().mapToDouble(Double::doubleValue).sum();
    found.put("s", longs.isEmpty() ? null : total);
    found.put("lo", longs.stream().min(Comparator.naturalOrder()).orElse(null));
    found.put("hi", longs.stream().max(Comparator.naturalOrder()).orElse(null));
    found.put("m", longs.isEmpty() ? null : (double) total / longs.size());
    found.put("ds", doubles.isEmpty() ? null : sum);
    found.put("dlo", doubles.stream().min(Comparator.naturalOrder()).orElse(null));
    found.put("dhi", doubles.stream().max(Comparator.naturalOrder()).orElse(null));
    found.put("dm", doubles.isEmpty() ? null : sum / doubles.size());
    List<JsonNode> texts = present(rows, "t").sorted(KeptValues.TEXTS).toList();
    found.set("tlo", texts.isEmpty() ? null : texts.get(0));
    found.set("thi", texts.isEmpty() ? null : texts.get(texts.size() - 1));
    List<JsonNode> all = StreamSupport.stream(rows.spliterator(), false).toList();
    KeptValues.put(found, "", all, "v", KeptValues.NUMBERS);
    KeptValues.put(found, "t", all, "t", KeptValues.TEXTS);
    return found;
  }

  private static java.util.stream.Stream<JsonNode> present(ArrayNode rows, String field) {
    return StreamSupport.stream(rows.spliterator(), false).filter(row -> row.hasNonNull(field)).map(row -> row.get(field));
  }
}
