package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.registry.Registry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;

/** Records of several writers, each with the id of its schema. */
final class WriterSchemasTest {
    private static final String NEW = "{\"type\":\"record\",\"name\":\"R\",\"fields\":["
            + "{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"b\",\"type\":\"string\",\"default\":\"?\"}]}";
    private static final String OLD =
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}";

    @Test
    void eachRecordMayHaveAnotherWriterSchema() {
        Map<Integer, Schema> schemas =
                new HashMap<>(Map.of(1, Records.schema("\"long\""), 2, Records.schema("\"int\"")));
        List<Integer> requested = new ArrayList<>();
        RecordDecoder decoder = new RecordDecoder(Records.schema("\"long\""), id -> {
            requested.add(id);
            return Optional.ofNullable(schemas.get(id)).orElseThrow(() -> new MalformedRecordException("none"));
        });
        AvroInput input = new AvroInput();
        byte[] first = Records.bytes(1, Records.schema("\"long\""), 10L);
        byte[] second = Records.bytes(2, Records.schema("\"int\""), 20);
        byte[] third = Records.bytes(3, Records.schema("\"int\""), 30);

        List<Object> values =
                List.of(decoder.decode(first, input), decoder.decode(second, input), decoder.decode(first, input));
        assertThrows(MalformedRecordException.class, () -> decoder.decode(third, input));
        schemas.put(3, Records.schema("\"int\""));

        assertEquals(List.of(10L, 20L, 10L), values);
        assertEquals(30L, decoder.decode(third, input));
        assertEquals(List.of(1, 2, 3, 3), requested);
    }

    @Test
    void recordsAreDecodedWithTheSchemasOfTheirIds() {
        Registry.registerSchemas("given", Map.of(1, OLD, 2, NEW));
        RecordDecoder decoder = RecordDecoder.shared(Registry.named("given"), NEW);
        Schema oldSchema = Records.schema(OLD);
        Schema newSchema = Records.schema(NEW);

        Object first = decoder.decode(Records.bytes(1, oldSchema, Records.of(oldSchema, 7)), new AvroInput());
        Object second = decoder.decode(Records.bytes(2, newSchema, Records.of(newSchema, 8, "x")), new AvroInput());

        assertEquals("(7 ?)", Records.shown(first));
        assertEquals("(8 x)", Records.shown(second));
    }
}
