package com.lsqlrunner.bench;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.WindowedSerdes;

/** Counts the records of each key by minute. Values are not decoded. */
public final class TumbleApp {
    /** The value of a result. */
    public record Counted(@JsonProperty("n") long n) {}

    private TumbleApp() {}

    /** Runs until a signal; for the arguments see {@link Launcher}. */
    public static void main(String[] args) throws InterruptedException {
        Duration minute = Duration.ofMinutes(1);
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(args[2], Consumed.with(Serdes.String(), Serdes.ByteArray()))
                .groupByKey(Grouped.with(Serdes.String(), Serdes.ByteArray()))
                .windowedBy(TimeWindows.ofSizeAndGrace(minute, Duration.ofDays(1)))
                .count(Materialized.with(Serdes.String(), Serdes.Long()))
                .toStream()
                .mapValues(Counted::new)
                .to(
                        args[3],
                        Produced.with(
                                WindowedSerdes.timeWindowedSerdeFrom(String.class, minute.toMillis()),
                                Json.serde(Counted.class)));
        Launcher.run(builder.build(), args);
    }
}
