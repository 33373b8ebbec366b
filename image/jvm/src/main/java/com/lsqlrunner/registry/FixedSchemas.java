package com.lsqlrunner.registry;

import java.util.Map;
import org.apache.avro.Schema;

/** Schemas that are known in advance, for runs without a registry. */
final class FixedSchemas implements SchemaSource {
    private final Map<Integer, String> texts;

    /** @param texts the JSON of an Avro schema, or the text of a {@code .proto} file, by id */
    FixedSchemas(Map<Integer, String> texts) {
        this.texts = Map.copyOf(texts);
    }

    @Override
    public Schema avro(int id) {
        String text = texts.get(id);
        return text == null ? null : AvroSchemaParser.parse(text);
    }

    @Override
    public String protobuf(int id) {
        return texts.get(id);
    }
}
