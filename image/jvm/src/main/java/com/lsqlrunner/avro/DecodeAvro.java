package com.lsqlrunner.avro;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.expression.DecodingFunction;
import com.lsqlrunner.registry.Registry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;

/**
 * Decodes Avro records in the wire format of a schema registry. Each record is read with its writer schema and
 * converted to one reader schema; {@code from_avro} supports only one writer schema.
 */
@PythonEntry
public final class DecodeAvro extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient RecordDecoder decoder;
    private transient AvroInput input;

    private DecodeAvro(Expression child, String schema, String registry, DataType type) {
        super(child, type, schema, registry);
    }

    /**
     * Creates the function.
     *
     * @param schema the reader schema
     * @param registry the name that was passed to {@link Registry#register}
     * @throws com.lsqlrunner.errors.SchemaMismatchException Spark has no type for the schema
     */
    public DecodeAvro(Expression child, String schema, String registry) {
        this(child, schema, registry, typeOf(schema));
    }

    /** The type of the decoded value, in the JSON of Spark's types. */
    public static String typeJson(String schema) {
        return typeOf(schema).json();
    }

    private static DataType typeOf(String schema) {
        return CatalystTypes.of(CatalystTypes.parse(schema));
    }

    @Override
    protected Object decoded(byte[] record) {
        if (decoder == null) {
            decoder = RecordDecoder.shared(Registry.named(option(1)), option(0));
            input = new AvroInput();
        }
        return decoder.decode(record, input);
    }

    @Override
    protected DecodeAvro withChild(Expression other) {
        return new DecodeAvro(other, option(0), option(1), dataType());
    }

    @Override
    public String prettyName() {
        return "lsql_decode_avro";
    }
}
