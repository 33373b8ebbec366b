package com.lsqlrunner.registry;

import org.apache.avro.AvroRuntimeException;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;

/** Parses the texts of Avro schemas. */
public final class AvroSchemaParser {
    private AvroSchemaParser() {}

    /**
     * A parser that checks neither names nor defaults, because registries contain schemas that older versions of Avro
     * accepted.
     */
    static Schema.Parser parser() {
        return new Schema.Parser(NameValidator.NO_VALIDATION).setValidateDefaults(false);
    }

    /**
     * Parses a schema.
     *
     * @throws AvroRuntimeException the text is not a schema
     */
    public static Schema parse(String text) {
        return parse(text, parser());
    }

    /**
     * Parses a schema that may refer to the types that the parser knows.
     *
     * @throws AvroRuntimeException the text is not a schema
     */
    static Schema parse(String text, Schema.Parser parser) {
        try {
            return parser.parse(text);
        } catch (NullPointerException error) { // this version of Avro throws it for an undefined name
            throw new SchemaParseException("it refers to an undefined type");
        }
    }
}
