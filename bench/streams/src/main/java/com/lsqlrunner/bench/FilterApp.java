package com.lsqlrunner.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/** Keeps the fast vessels and five of their fields. The object that is read is also written. */
public final class FilterApp {
    /** The fields of a result; Jackson skips the other fields of a position report and creates no objects for them. */
    @JsonPropertyOrder({"MMSI", "Speed", "Long", "Lat", "Timestamp"})
    public record Position(
            @JsonProperty("MMSI") long mmsi,
            @JsonProperty("Speed") double speed,
            @JsonProperty("Long") double longitude,
            @JsonProperty("Lat") double latitude,
            @JsonProperty("Timestamp") String timestamp) {}

    private FilterApp() {}

    /** Runs until a signal; for the arguments see {@link Launcher}. */
    public static void main(String[] args) throws InterruptedException {
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(args[2], Consumed.with(Serdes.ByteArray(), Json.serde(Position.class)))
                .filter((key, position) -> position.speed() > 10)
                .to(args[3], Produced.with(Serdes.ByteArray(), Json.serde(Position.class)));
        Launcher.run(builder.build(), args);
    }
}
