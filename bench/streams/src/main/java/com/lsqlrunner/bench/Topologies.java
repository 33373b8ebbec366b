package com.lsqlrunner.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** The workloads as topologies. Classes that are read have the fields of a result; Jackson skips the other fields. */
final class Topologies {
    static final Duration GRACE = Duration.ofMinutes(10);

    @JsonPropertyOrder({"MMSI", "Speed", "Long", "Lat", "Timestamp"})
    record Position(
            @JsonProperty("MMSI") long mmsi,
            @JsonProperty("Speed") double speed,
            @JsonProperty("Long") double longitude,
            @JsonProperty("Lat") double latitude,
            @JsonProperty("Timestamp") String timestamp) {}

    record Counted(@JsonProperty("n") long n) {}

    record Speed(@JsonProperty("MMSI") long mmsi, @JsonProperty("Speed") double speed) {}

    record Ship(@JsonProperty("Name") String name) {}

    record Call(@JsonProperty("Port") String port) {}

    @JsonPropertyOrder({"MMSI", "Speed", "Name"})
    record NamedSpeed(
            @JsonProperty("MMSI") long mmsi,
            @JsonProperty("Speed") double speed,
            @JsonProperty("Name") String name) {}

    @JsonPropertyOrder({"MMSI", "Speed", "Port"})
    record SpeedAtPort(
            @JsonProperty("MMSI") long mmsi,
            @JsonProperty("Speed") double speed,
            @JsonProperty("Port") String port) {}

    /** The value of a record of `bench.load`. */
    record Event(
            @JsonProperty("id") long id,
            @JsonProperty("user") String user,
            @JsonProperty("speed") double speed) {}

    @JsonPropertyOrder({"id", "user"})
    record EventOfUser(@JsonProperty("id") long id, @JsonProperty("user") String user) {}

    private Topologies() {}

    /**
     * Adds the topology of a workload.
     *
     * @throws IllegalArgumentException if there is none of this name
     */
    static void add(StreamsBuilder builder, Workload workload) {
        switch (workload.name()) {
            case "filter" -> filter(builder, workload);
            case "avro" -> Avro.filter(builder, workload);
            case "tumble" -> windows(
                    reports(builder, workload), TimeWindows.ofSizeAndGrace(minutes(1), GRACE), workload.target());
            case "hop" -> windows(
                    reports(builder, workload),
                    TimeWindows.ofSizeAndGrace(minutes(5), GRACE).advanceBy(minutes(1)),
                    workload.target());
            case "session" -> sessions(builder, workload);
            case "stream-table" -> streamTable(builder, workload);
            case "stream-stream" -> streamStream(builder, workload);
            case "load-filter" -> loadFilter(builder, workload);
            case "load-two-windows" -> loadTwoWindows(builder, workload);
            default -> throw new IllegalArgumentException("no topology " + workload.name());
        }
    }

    private static Duration minutes(int count) {
        return Duration.ofMinutes(count);
    }

    private static void filter(StreamsBuilder builder, Workload workload) {
        Serde<Position> positions = Json.serde(Position.class);
        builder.stream(workload.source(), Consumed.with(Serdes.ByteArray(), positions))
                .filter((key, position) -> position.speed() > 10)
                .to(workload.target(), Produced.with(Serdes.ByteArray(), positions));
    }

    /** The records by their key; values are not decoded. */
    private static KGroupedStream<String, byte[]> reports(StreamsBuilder builder, Workload workload) {
        return builder.stream(workload.source(), Consumed.with(Serdes.String(), Serdes.ByteArray()))
                .groupByKey(Grouped.with(Serdes.String(), Serdes.ByteArray()));
    }

    private static void windows(KGroupedStream<String, byte[]> groups, TimeWindows windows, String target) {
        groups.windowedBy(windows)
                .count(Materialized.with(Serdes.String(), Serdes.Long()))
                .toStream()
                .mapValues(Counted::new)
                .to(
                        target,
                        Produced.with(
                                WindowedSerdes.timeWindowedSerdeFrom(String.class, windows.sizeMs),
                                Json.serde(Counted.class)));
    }

    private static void sessions(StreamsBuilder builder, Workload workload) {
        reports(builder, workload)
                .windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), GRACE))
                .count(Materialized.with(Serdes.String(), Serdes.Long()))
                .toStream()
                .mapValues(count -> count == null ? null : new Counted(count))
                .to(
                        workload.target(),
                        Produced.with(
                                WindowedSerdes.sessionWindowedSerdeFrom(String.class), Json.serde(Counted.class)));
    }

    private static void streamTable(StreamsBuilder builder, Workload workload) {
        Serde<Speed> speeds = Json.serde(Speed.class);
        Serde<Ship> ships = Json.serde(Ship.class);
        builder.stream(workload.source(), Consumed.with(Serdes.String(), speeds))
                .join(
                        builder.table(workload.other(), Consumed.with(Serdes.String(), ships)),
                        (speed, ship) -> new NamedSpeed(speed.mmsi(), speed.speed(), ship.name()),
                        Joined.with(Serdes.String(), speeds, ships))
                .to(workload.target(), Produced.with(Serdes.String(), Json.serde(NamedSpeed.class)));
    }

    private static void streamStream(StreamsBuilder builder, Workload workload) {
        Serde<Speed> speeds = Json.serde(Speed.class);
        Serde<Call> calls = Json.serde(Call.class);
        builder.stream(workload.source(), Consumed.with(Serdes.String(), speeds))
                .join(
                        builder.stream(workload.other(), Consumed.with(Serdes.String(), calls)),
                        (speed, call) -> new SpeedAtPort(speed.mmsi(), speed.speed(), call.port()),
                        JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(10), GRACE),
                        StreamJoined.with(Serdes.String(), speeds, calls))
                .to(workload.target(), Produced.with(Serdes.String(), Json.serde(SpeedAtPort.class)));
    }

    private static void loadFilter(StreamsBuilder builder, Workload workload) {
        builder.stream(workload.source(), Consumed.with(Serdes.ByteArray(), Json.serde(Event.class)))
                .filter((key, event) -> event.speed() >= 0)
                .mapValues(event -> new EventOfUser(event.id(), event.user()))
                .to(workload.target(), Produced.with(Serdes.ByteArray(), Json.serde(EventOfUser.class)));
    }

    private static void loadTwoWindows(StreamsBuilder builder, Workload workload) {
        KGroupedStream<String, byte[]> groups = reports(builder, workload);
        windows(groups, TimeWindows.ofSizeAndGrace(Duration.ofSeconds(10), GRACE), workload.targets().get(0));
        windows(groups, TimeWindows.ofSizeAndGrace(minutes(1), GRACE), workload.targets().get(1));
    }
}
