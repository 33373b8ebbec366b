package com.lsqlrunner.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.ValueJoiner;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.WindowedSerdes;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueStore;

/** The topologies by name. Each reads some of the topics {@code l}, {@code r} and {@code m}, and writes {@code o}. */
final class Topologies {
  private static final Map<String, BiConsumer<Sources, JsonNode>> BY_NAME = new TreeMap<>();

  static {
    BY_NAME.put("stream-groups", (sources, settings) -> write(aggregated(sources.grouped())));
    BY_NAME.put("windows", Topologies::windows);
    BY_NAME.put("sessions", Topologies::sessions);
    BY_NAME.put("table-filter", (sources, settings) -> write(sources.left().filter(Topologies::isPositive)));
    BY_NAME.put("table-groups", (sources, settings) -> write(aggregated(sources.left())));
    BY_NAME.put(
        "table-groups-where", (sources, settings) -> write(aggregated(sources.left().filter(Topologies::isPositive))));
    BY_NAME.put(
        "table-groups-having",
        (sources, settings) -> write(aggregated(sources.left()).filter((group, rows) -> rows.size() > 1)));
    BY_NAME.put("stream-table", Topologies::streamTable);
    BY_NAME.put("tables", Topologies::tables);
    BY_NAME.put("foreign-key", Topologies::foreignKey);
    BY_NAME.put("tables-groups", Topologies::tablesGroups);
    BY_NAME.put("streams", Topologies::streams);
    BY_NAME.put("chain", Chain::add);
  }

  private Topologies() {}

  /**
   * Adds a topology.
   *
   * @throws IllegalArgumentException if there is no topology of this name
   */
  static void add(StreamsBuilder builder, String name, JsonNode settings) {
    BiConsumer<Sources, JsonNode> found = BY_NAME.get(name);
    if (found == null) {
      throw new IllegalArgumentException("no topology " + name + "; there are " + BY_NAME.keySet());
    }
    found.accept(new Sources(builder), settings);
  }

  /** The topics, as streams and as tables. */
  record Sources(StreamsBuilder builder) {
    private static final Consumed<String, ObjectNode> ROWS = Consumed.with(Serdes.String(), Json.objectSerde());

    /** The records with a value. Joins and groups skip others, but steps before them do not. */
    KStream<String, ObjectNode> stream(String topic) {
      return builder.stream(topic, ROWS).filter((key, row) -> row != null);
    }

    KGroupedStream<String, ObjectNode> grouped() {
      return stream("l").groupBy((key, row) -> Group.of(row), Grouped.with(Serdes.String(), Json.objectSerde()));
    }

    KTable<String, ObjectNode> table(String topic) {
      return builder.table(topic, ROWS);
    }

    KTable<String, ObjectNode> left() {
      return table("l");
    }

    KTable<String, ObjectNode> right() {
      return table("r");
    }
  }

  private static boolean isPositive(String key, ObjectNode row) {
    return row.hasNonNull("v") && row.get("v").longValue() > 0;
  }

  private static KTable<String, ArrayNode> aggregated(KGroupedStream<String, ObjectNode> groups) {
    return groups.aggregate(
        Json::array, (group, row, rows) -> Group.with(rows, row), Materialized.with(Serdes.String(), Json.arraySerde()));
  }

  private static KTable<String, ArrayNode> aggregated(KTable<String, ObjectNode> table) {
    return table
        .groupBy(
            (key, row) -> KeyValue.pair(Group.of(row), row), Grouped.with(Serdes.String(), Json.objectSerde()))
        .aggregate(
            Json::array,
            (group, row, rows) -> Group.with(rows, row),
            (group, row, rows) -> Group.without(rows, row),
            Materialized.with(Serdes.String(), Json.arraySerde()));
  }

  private static void windows(Sources sources, JsonNode settings) {
    TimeWindows windows =
        TimeWindows.ofSizeAndGrace(duration(settings, "size_ms"), duration(settings, "grace_ms"))
            .advanceBy(duration(settings, "advance_ms"));
    KTable<Windowed<String>, ArrayNode> groups =
        sources
            .grouped()
            .windowedBy(windows)
            .emitStrategy(emitted(settings))
            .aggregate(
                Json::array,
                (group, row, rows) -> Group.with(rows, row),
                kept(settings));
    groups
        .toStream()
        .mapValues(Group::results)
        .to("o", Produced.with(WindowedSerdes.timeWindowedSerdeFrom(String.class, windows.sizeMs), Json.objectSerde()));
  }

  private static void sessions(Sources sources, JsonNode settings) {
    SessionWindows windows =
        SessionWindows.ofInactivityGapAndGrace(duration(settings, "gap_ms"), duration(settings, "grace_ms"));
    KTable<Windowed<String>, ArrayNode> groups =
        sources
            .grouped()
            .windowedBy(windows)
            .emitStrategy(emitted(settings))
            .aggregate(
                Json::array,
                (group, row, rows) -> Group.with(rows, row),
                (group, one, other) -> Group.both(one, other),
                kept(settings));
    groups
        .toStream()
        .mapValues(rows -> rows == null ? null : Group.results(rows))
        .to("o", Produced.with(WindowedSerdes.sessionWindowedSerdeFrom(String.class), Json.objectSerde()));
  }

  /**
   * The store of windows. For final results it keeps them for a day: a store in memory deletes expired windows when a
   * record advances the time, which can be before their final results are emitted.
   */
  private static <S extends StateStore> Materialized<String, ArrayNode, S> kept(JsonNode settings) {
    Materialized<String, ArrayNode, S> store = Materialized.with(Serdes.String(), Json.arraySerde());
    return isFinal(settings) ? store.withRetention(Duration.ofDays(1)) : store;
  }

  private static EmitStrategy emitted(JsonNode settings) {
    return isFinal(settings) ? EmitStrategy.onWindowClose() : EmitStrategy.onWindowUpdate();
  }

  private static boolean isFinal(JsonNode settings) {
    return settings.path("final").asBoolean();
  }

  private static void streamTable(Sources sources, JsonNode settings) {
    KStream<String, ObjectNode> keyed = sources.stream("l").selectKey((key, row) -> Json.string(row, "f"));
    Joined<String, ObjectNode, ObjectNode> with = Joined.with(Serdes.String(), Json.objectSerde(), Json.objectSerde());
    ValueJoiner<ObjectNode, ObjectNode, ObjectNode> pair = Topologies::pair;
    KStream<String, ObjectNode> joined =
        switch (kind(settings)) {
          case "INNER" -> keyed.join(sources.right(), pair, with);
          case "LEFT" -> keyed.leftJoin(sources.right(), pair, with);
          default -> throw new IllegalArgumentException(kind(settings));
        };
    joined.to("o", Produced.with(Serdes.String(), Json.objectSerde()));
  }

  private static void tables(Sources sources, JsonNode settings) {
    KTable<String, ObjectNode> left = sources.left();
    KTable<String, ObjectNode> right = sources.right();
    KTable<String, ObjectNode> joined =
        switch (kind(settings)) {
          case "INNER" -> left.join(right, Topologies::pair);
          case "LEFT" -> left.leftJoin(right, Topologies::pair);
          case "RIGHT" -> right.leftJoin(left, (other, one) -> pair(one, other));
          case "FULL" -> left.outerJoin(right, Topologies::pair);
          default -> throw new IllegalArgumentException(kind(settings));
        };
    writeRows(joined);
  }

  private static void foreignKey(Sources sources, JsonNode settings) {
    Materialized<String, ObjectNode, KeyValueStore<Bytes, byte[]>> with =
        Materialized.with(Serdes.String(), Json.objectSerde());
    KTable<String, ObjectNode> left = sources.left();
    KTable<String, ObjectNode> joined =
        switch (kind(settings)) {
          case "INNER" -> left.join(sources.right(), row -> Json.string(row, "f"), Topologies::pair, with);
          case "LEFT" -> left.leftJoin(sources.right(), row -> Json.string(row, "f"), Topologies::pair, with);
          default -> throw new IllegalArgumentException(kind(settings));
        };
    writeRows(joined);
  }

  /** Groups, by a field of the left table, of two tables joined by their keys. */
  private static void tablesGroups(Sources sources, JsonNode settings) {
    KTable<String, ObjectNode> joined =
        sources.left().join(sources.right(), (left, right) -> right.deepCopy().set("g", Json.field(left, "g")));
    write(aggregated(joined));
  }

  private static void streams(Sources sources, JsonNode settings) {
    JoinWindows windows =
        JoinWindows.ofTimeDifferenceAndGrace(duration(settings, "within_ms"), duration(settings, "grace_ms"));
    StreamJoined<String, ObjectNode, ObjectNode> with =
        StreamJoined.with(Serdes.String(), Json.objectSerde(), Json.objectSerde());
    KStream<String, ObjectNode> left = sources.stream("l").selectKey((key, row) -> Json.string(row, "f"));
    KStream<String, ObjectNode> right = sources.stream("r").selectKey((key, row) -> Json.string(row, "f"));
    ValueJoiner<ObjectNode, ObjectNode, ObjectNode> pair = Topologies::pair;
    ValueJoiner<ObjectNode, ObjectNode, ObjectNode> swapped = (other, one) -> pair(one, other);
    KStream<String, ObjectNode> joined =
        switch (kind(settings)) {
          case "INNER" -> left.join(right, pair, windows, with);
          case "LEFT" -> left.leftJoin(right, pair, windows, with);
          case "RIGHT" -> right.leftJoin(left, swapped, windows, with);
          case "FULL" -> left.outerJoin(right, pair, windows, with);
          default -> throw new IllegalArgumentException(kind(settings));
        };
    joined.to("o", Produced.with(Serdes.String(), Json.objectSerde()));
  }

  private static ObjectNode pair(ObjectNode left, ObjectNode right) {
    ObjectNode joined = Json.object();
    joined.set("lv", Json.field(left, "v"));
    joined.set("rv", Json.field(right, "v"));
    return joined;
  }

  private static void write(KTable<String, ?> table) {
    table
        .toStream()
        .mapValues(Topologies::written)
        .to("o", Produced.with(Serdes.String(), Json.objectSerde()));
  }

  private static void writeRows(KTable<String, ObjectNode> table) {
    table.toStream().to("o", Produced.with(Serdes.String(), Json.objectSerde()));
  }

  private static ObjectNode written(Object value) {
    return value instanceof ArrayNode rows ? Group.results(rows) : (ObjectNode) value;
  }

  private static String kind(JsonNode settings) {
    return settings.path("kind").asText();
  }

  private static Duration duration(JsonNode settings, String name) {
    return Duration.ofMillis(settings.required(name).longValue());
  }
}
