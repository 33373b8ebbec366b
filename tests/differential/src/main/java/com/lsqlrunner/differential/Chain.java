package com.lsqlrunner.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Sources joined one after the other. Settings: {@code sources} (an {@code s} or a {@code t} for each: stream or
 * table), {@code joins} (each with {@code kind}, and the compared values {@code left} and {@code right}), {@code
 * within_ms}, {@code grace_ms}. A compared value is {@code _key}, the key of the rows before that join, or a field of a
 * source: {@code a.f} of the first, {@code b.f} of the second.
 *
 * <p>A joined row is an object with the rows of the sources by their names. A source without a match is missing.
 */
final class Chain {
  private static final String KEY = "_key";
  private static final List<String> TOPICS = List.of("l", "r", "m");
  private static final List<String> NAMES = List.of("a", "b", "c");

  /** Either a stream or a table; the other is null. */
  private record Rows(KStream<String, ObjectNode> stream, KTable<String, ObjectNode> table) {
    static Rows of(KStream<String, ObjectNode> stream) {
      return new Rows(stream, null);
    }

    static Rows of(KTable<String, ObjectNode> table) {
      return new Rows(null, table);
    }
  }

  private Chain() {}

  /** Adds the topology; it writes {@code v} of the three sources as {@code lv}, {@code rv}, {@code mv}. */
  static void add(Topologies.Sources sources, JsonNode settings) {
    Rows joined = source(sources, settings, 0);
    int number = 0;
    for (JsonNode join : settings.required("joins")) {
      number++;
      joined = join(joined, source(sources, settings, number), join, settings);
    }
    KStream<String, ObjectNode> results = joined.stream != null ? joined.stream : joined.table.toStream();
    results.mapValues(Chain::written).to("o", Produced.with(Serdes.String(), Json.objectSerde()));
  }

  private static Rows source(Topologies.Sources sources, JsonNode settings, int number) {
    String topic = TOPICS.get(number);
    String name = NAMES.get(number);
    return switch (settings.required("sources").textValue().charAt(number)) {
      case 's' -> Rows.of(sources.stream(topic).mapValues((key, row) -> named(name, key, row)));
      case 't' -> Rows.of(sources.table(topic).mapValues((key, row) -> named(name, key, row), kept()));
      default -> throw new IllegalArgumentException(settings.toString());
    };
  }

  private static ObjectNode named(String name, String key, ObjectNode row) {
    return Json.object().set(name, row.deepCopy().put(KEY, key));
  }

  private static Rows join(Rows left, Rows right, JsonNode join, JsonNode settings) {
    String kind = join.required("kind").textValue();
    String one = join.required("left").textValue();
    String other = join.required("right").textValue();
    if (left.table != null && right.table != null) {
      return Rows.of(tables(left.table, one, right.table, other, kind));
    }
    if (left.stream != null && right.stream != null) {
      return Rows.of(streams(keyed(left.stream, one), keyed(right.stream, other), kind, settings));
    }
    // Only the stream can keep its records without a match.
    if (left.stream != null) {
      return Rows.of(lookup(keyed(left.stream, one), right.table, other, isOuter(kind, "LEFT")));
    }
    return Rows.of(lookup(keyed(right.stream, other), left.table, one, isOuter(kind, "RIGHT")));
  }

  private static boolean isOuter(String kind, String outer) {
    if (!kind.equals(outer) && !kind.equals("INNER")) {
      throw new IllegalArgumentException(kind);
    }
    return kind.equals(outer);
  }

  private static KStream<String, ObjectNode> keyed(KStream<String, ObjectNode> stream, String path) {
    return path.equals(KEY) ? stream : stream.selectKey((key, row) -> field(row, path));
  }

  private static String field(ObjectNode row, String path) {
    String[] steps = path.split("\\.");
    return Json.string((ObjectNode) row.get(steps[0]), steps[1]);
  }

  private static KStream<String, ObjectNode> streams(
      KStream<String, ObjectNode> left, KStream<String, ObjectNode> right, String kind, JsonNode settings) {
    JoinWindows windows =
        JoinWindows.ofTimeDifferenceAndGrace(
            Duration.ofMillis(settings.required("within_ms").longValue()),
            Duration.ofMillis(settings.required("grace_ms").longValue()));
    StreamJoined<String, ObjectNode, ObjectNode> with =
        StreamJoined.with(Serdes.String(), Json.objectSerde(), Json.objectSerde());
    ValueJoiner<ObjectNode, ObjectNode, ObjectNode> both = Chain::both;
    return isOuter(kind, "LEFT")
        ? left.leftJoin(right, both, windows, with)
        : left.join(right, both, windows, with);
  }

  private static KStream<String, ObjectNode> lookup(
      KStream<String, ObjectNode> stream, KTable<String, ObjectNode> table, String path, boolean isOuter) {
    if (!path.equals(KEY)) {
      return lookupAll(stream, listed(table, path), isOuter);
    }
    Joined<String, ObjectNode, ObjectNode> with = Joined.with(Serdes.String(), Json.objectSerde(), Json.objectSerde());
    ValueJoiner<ObjectNode, ObjectNode, ObjectNode> both = Chain::both;
    return isOuter ? stream.leftJoin(table, both, with) : stream.join(table, both, with);
  }

  private static KStream<String, ObjectNode> lookupAll(
      KStream<String, ObjectNode> stream, KTable<String, ArrayNode> lists, boolean isOuter) {
    Joined<String, ObjectNode, ArrayNode> with = Joined.with(Serdes.String(), Json.objectSerde(), Json.arraySerde());
    ValueJoiner<ObjectNode, ArrayNode, List<ObjectNode>> each = Chain::each;
    KStream<String, List<ObjectNode>> found =
        isOuter ? stream.leftJoin(lists, each, with) : stream.join(lists, each, with);
    return found.flatMapValues(rows -> rows);
  }

  private static List<ObjectNode> each(ObjectNode row, ArrayNode rows) {
    if (rows == null) {
      return List.of(row);
    }
    List<ObjectNode> found = new ArrayList<>();
    rows.forEach(other -> found.add(both(row, (ObjectNode) other)));
    return found;
  }

  /** All rows of a table by the value of a field, because Kafka Streams joins a stream only by the key of a table. */
  private static KTable<String, ArrayNode> listed(KTable<String, ObjectNode> table, String path) {
    return table
        .groupBy(
            (key, row) -> KeyValue.pair(field(row, path), row), Grouped.with(Serdes.String(), Json.objectSerde()))
        .aggregate(
            Json::array,
            (key, row, rows) -> Group.with(rows, row),
            (key, row, rows) -> Group.without(rows, row),
            Materialized.with(Serdes.String(), Json.arraySerde()));
  }

  /** Joined by both keys, or by the key of one and a field of the other; then the result has the key of the other. */
  private static KTable<String, ObjectNode> tables(
      KTable<String, ObjectNode> left, String one, KTable<String, ObjectNode> right, String other, String kind) {
    if (one.equals(KEY) && other.equals(KEY)) {
      return switch (kind) {
        case "INNER" -> left.join(right, Chain::both, kept());
        case "LEFT" -> left.leftJoin(right, Chain::both, kept());
        case "RIGHT" -> right.leftJoin(left, Chain::both, kept());
        case "FULL" -> left.outerJoin(right, Chain::both, kept());
        default -> throw new IllegalArgumentException(kind);
      };
    }
    if (other.equals(KEY)) {
      return referring(left, one, right, isOuter(kind, "LEFT"));
    }
    if (one.equals(KEY)) {
      return referring(right, other, left, isOuter(kind, "RIGHT"));
    }
    throw new IllegalArgumentException("no table is joined by its key");
  }

  private static KTable<String, ObjectNode> referring(
      KTable<String, ObjectNode> table, String path, KTable<String, ObjectNode> other, boolean isOuter) {
    return isOuter
        ? table.leftJoin(other, row -> field(row, path), Chain::both, kept())
        : table.join(other, row -> field(row, path), Chain::both, kept());
  }

  private static Materialized<String, ObjectNode, KeyValueStore<Bytes, byte[]>> kept() {
    return Materialized.with(Serdes.String(), Json.objectSerde());
  }

  /** A row with the sources of both rows. Either may be null. */
  private static ObjectNode both(ObjectNode one, ObjectNode other) {
    ObjectNode joined = Json.object();
    for (ObjectNode row : new ObjectNode[] {one, other}) {
      if (row != null) {
        joined.setAll(row);
      }
    }
    return joined;
  }

  private static ObjectNode written(ObjectNode row) {
    if (row == null) {
      return null;
    }
    ObjectNode values = Json.object();
    for (int number = 0; number < NAMES.size(); number++) {
      values.set(TOPICS.get(number) + "v", Json.field((ObjectNode) row.get(NAMES.get(number)), "v"));
    }
    return values;
  }
}
