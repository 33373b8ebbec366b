package com.lsqlrunner.bench;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** JSON as typed values, with one reader and one writer of Jackson; unknown fields are skipped. */
final class Json {
    private static final ObjectMapper MAPPER =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private Json() {}

    static <T> Serde<T> serde(Class<T> kind) {
        ObjectReader reader = MAPPER.readerFor(kind);
        ObjectWriter writer = MAPPER.writerFor(kind);
        return Serdes.serdeFrom(
                (topic, value) -> {
                    try {
                        return value == null ? null : writer.writeValueAsBytes(value);
                    } catch (IOException error) {
                        throw new UncheckedIOException(error);
                    }
                },
                (topic, data) -> {
                    try {
                        return data == null ? null : reader.readValue(data);
                    } catch (IOException error) {
                        throw new UncheckedIOException(error);
                    }
                });
    }
}
