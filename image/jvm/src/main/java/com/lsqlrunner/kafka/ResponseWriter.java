package com.lsqlrunner.kafka;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Writes the lines of one response. */
final class ResponseWriter {
    private final OutputStream out;

    ResponseWriter(OutputStream out) {
        this.out = out;
    }

    /** Writes one record, before the last line of the response. */
    void record(ConsumerRecord<byte[], byte[]> record) throws IOException {
        line(
                "record",
                Arrays.asList(record.topic(), record.partition(), record.offset(), record.key(), record.value()));
    }

    /** Writes the last line of a successful response. */
    void ok(Object value) throws IOException {
        line("ok", value);
        out.flush();
    }

    /** Writes the last line of a failed response. */
    void error(BrokerError error) throws IOException {
        write(error.fields());
        out.flush();
    }

    private void line(String name, Object value) throws IOException {
        Map<String, Object> fields = new HashMap<>();
        fields.put(name, value);
        write(fields);
    }

    private void write(Map<String, Object> fields) throws IOException {
        try (JsonGenerator json = Json.FACTORY.createGenerator(out)) {
            Json.write(json, fields);
        }
        out.write('\n');
    }
}
