package com.lsqlrunner.kafka;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Writes the lines of one answer. */
final class AnswerWriter {
    private final OutputStream out;

    AnswerWriter(OutputStream out) {
        this.out = out;
    }

    /** One record, before the answer's last line. */
    void record(ConsumerRecord<byte[], byte[]> record) throws IOException {
        line(
                "record",
                Arrays.asList(record.topic(), record.partition(), record.offset(), record.key(), record.value()));
    }

    /** The last line of an answer. */
    void ok(Object value) throws IOException {
        line("ok", value);
        out.flush();
    }

    /** The last line, where there is no answer. */
    void refuse(BrokerError refusal) throws IOException {
        write(refusal.fields());
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
