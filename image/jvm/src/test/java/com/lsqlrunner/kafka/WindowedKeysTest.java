package com.lsqlrunner.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HexFormat;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.kstream.SessionWindowedSerializer;
import org.apache.kafka.streams.kstream.TimeWindowedSerializer;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.kstream.internals.TimeWindow;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** The windowed keys that Kafka Streams writes, compared with the bytes that the engine must write. */
final class WindowedKeysTest {
    @ParameterizedTest
    @CsvFileSource(resources = "/windowed-keys.csv", emptyValue = "")
    void windowedKeysEqualThoseOfKafkaStreams(String format, String key, long start, Long end, String bytes) {
        String text = key == null ? "" : key;
        boolean isSession = format.equals("SW");
        try (Serializer<String> inner = new StringSerializer();
                Serializer<Windowed<String>> windowed =
                        isSession ? new SessionWindowedSerializer<>(inner) : new TimeWindowedSerializer<>(inner)) {
            Windowed<String> window = new Windowed<>(
                    text, isSession ? new SessionWindow(start, end) : new TimeWindow(start, Long.MAX_VALUE));

            assertEquals(bytes, HexFormat.of().formatHex(windowed.serialize("topic", window)));
        }
    }
}
