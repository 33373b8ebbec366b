package com.lsqlrunner.avro;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.expression.DecodingFunction;
import com.lsqlrunner.registry.Registry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;

/**
 * Avro in the wire format of a registry to a value. Each record is read with the schema that it was written with, and
 * made what one schema says: {@code from_avro} knows one writer.
 */
@PythonEntry
public final class DecodeAvro extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient RecordDecoder decoder;
    private transient AvroBytes bytes;

    private DecodeAvro(Expression child, String schema, String registry, DataType type) {
        super(child, type, schema, registry);
    }

    /**
     * The function.
     *
     * @param schema the reader's schema
     * @param registry the name that {@link Registry#register} was given
     * @throws com.lsqlrunner.errors.SchemaMismatchException Spark has no type for the schema
     */
    public DecodeAvro(Expression child, String schema, String registry) {
        this(child, schema, registry, typeOf(schema));
    }

    /** The type of what is decoded: Spark's, in its JSON. */
    public static String typeJson(String schema) {
        return typeOf(schema).json();
    }

    private static DataType typeOf(String schema) {
        return CatalystTypes.of(CatalystTypes.parsed(schema));
    }

    @Override
    protected Object decoded(byte[] record) {
        if (decoder == null) {
            decoder = RecordDecoder.shared(Registry.named(option(1)), option(0));
            bytes = new AvroBytes();
        }
        return decoder.decode(record, bytes);
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
