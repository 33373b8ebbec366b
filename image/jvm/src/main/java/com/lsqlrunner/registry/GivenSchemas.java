package com.lsqlrunner.registry;

import java.util.Map;
import org.apache.avro.Schema;

/** SchemaSource that are there already, each whole: what a registry would say where there is none. */
final class GivenSchemas implements SchemaSource {
    private final Map<Integer, String> texts;

    /** @param texts JSON of Avro, or a file of Protobuf, by id */
    GivenSchemas(Map<Integer, String> texts) {
        this.texts = Map.copyOf(texts);
    }

    @Override
    public Schema avro(int id) {
        String text = texts.get(id);
        return text == null ? null : AvroTexts.parse(text);
    }

    @Override
    public String protobuf(int id) {
        return texts.get(id);
    }
}
