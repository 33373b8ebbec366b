package com.lsqlrunner.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The aggregates that keep values of a group: the first of all values in some order. */
final class KeptValues {
  /** The maximum number of values, which is the second argument of the calls in SQL. */
  private static final int LIMIT = 3;

  static final Comparator<JsonNode> NUMBERS = Comparator.comparingLong(JsonNode::longValue);

  /** The order of the UTF-8 bytes, which differs from the order of Java's UTF-16 characters. */
  static final Comparator<JsonNode> TEXTS =
      (one, other) -> Arrays.compareUnsigned(bytes(one.textValue()), bytes(other.textValue()));

  /** The order by event time, partition and offset. */
  private static final Comparator<JsonNode> IN_SQL_ORDER =
      Comparator.<JsonNode>comparingLong(row -> row.required("at").required(0).longValue())
          .thenComparingLong(row -> row.required("at").required(1).longValue())
          .thenComparingLong(row -> row.required("at").required(2).longValue());

  private KeptValues() {}

  /**
   * Puts FIRST, LAST, COLLECT, COLLECT_UNIQUE, MAXK, MAXK_UNIQUE, MINK, MINK_UNIQUE, TOPK and BOTTOMK of a field.
   *
   * @param prefix the prefix of the names of the results
   * @param order the order of the field's values
   */
  static void put(ObjectNode results, String prefix, List<JsonNode> rows, String field, Comparator<JsonNode> order) {
    List<JsonNode> inTime =
        rows.stream().filter(row -> row.hasNonNull(field)).sorted(IN_SQL_ORDER).map(row -> row.get(field)).toList();
    List<JsonNode> rising = inTime.stream().sorted(order).toList();
    List<JsonNode> falling = inTime.stream().sorted(order.reversed()).toList();
    Map<JsonNode, Long> times =
        inTime.stream().collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
    Comparator<JsonNode> byTimes = Comparator.comparingLong(times::get);
    results.set(prefix + "first", inTime.isEmpty() ? null : inTime.get(0));
    results.set(prefix + "last", inTime.isEmpty() ? null : inTime.get(inTime.size() - 1));
    results.set(prefix + "collected", leading(inTime.stream()));
    results.set(prefix + "different", leading(inTime.stream().distinct()));
    results.set(prefix + "largest", leading(falling.stream()));
    results.set(prefix + "largest_different", leading(falling.stream().distinct()));
    results.set(prefix + "smallest", leading(rising.stream()));
    results.set(prefix + "smallest_different", leading(rising.stream().distinct()));
    results.set(
        prefix + "frequent", leading(times.keySet().stream().sorted(byTimes.reversed().thenComparing(order))));
    results.set(prefix + "rare", leading(times.keySet().stream().sorted(byTimes.thenComparing(order))));
  }

  private static ArrayNode leading(Stream<JsonNode> values) {
    return Json.array().addAll(values.limit(LIMIT).toList());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
