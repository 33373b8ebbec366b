package com.lsqlrunner.registry;

import org.apache.avro.AvroRuntimeException;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;

/** Texts of Avro schemas. */
public final class AvroTexts {
    private AvroTexts() {}

    /** A parser that checks neither names nor defaults: registries hold what older versions of Avro accepted. */
    static Schema.Parser parser() {
        return new Schema.Parser(NameValidator.NO_VALIDATION).setValidateDefaults(false);
    }

    /**
     * The schema in a text.
     *
     * @throws AvroRuntimeException the text is not a schema
     */
    public static Schema parse(String text) {
        return parse(text, parser());
    }

    /**
     * The schema in a text that may refer to the types that the parser knows.
     *
     * @throws AvroRuntimeException the text is not a schema
     */
    static Schema parse(String text, Schema.Parser parser) {
        try {
            return parser.parse(text);
        } catch (NullPointerException error) { // what this version of Avro throws for a name that it does not know
            throw new SchemaParseException("it names a type that is not defined");
        }
    }
}
