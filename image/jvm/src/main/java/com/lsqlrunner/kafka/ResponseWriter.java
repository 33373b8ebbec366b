package com.lsqlrunner.kafka;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Writes the lines of responses. */
final class ResponseWriter {
    private final Lines lines;

    /** Takes the lines, as the fields of a JSON object. */
    interface Lines {
        void write(Map<String, Object> line) throws IOException, InterruptedException;
    }

    ResponseWriter(Lines lines) {
        this.lines = lines;
    }

    /** Writes some records, before the last line of the response. */
    void records(List<ConsumerRecord<byte[], byte[]>> records) throws IOException, InterruptedException {
        List<Object> rows = new ArrayList<>(records.size());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            rows.add(Arrays.asList(record.topic(), record.partition(), record.offset(), record.key(), record.value()));
        }
        line("records", rows);
    }

    /** Writes the last line of a successful response. */
    void ok(Object value) throws IOException, InterruptedException {
        line("ok", value);
    }

    /** Writes the last line of a failed response. */
    void error(BrokerError error) throws IOException, InterruptedException {
        lines.write(error.fields());
    }

    private void line(String name, Object value) throws IOException, InterruptedException {
        Map<String, Object> fields = new HashMap<>();
        fields.put(name, value);
        lines.write(fields);
    }
}
