package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Encodes a value as Avro in the wire format of a schema registry: a zero byte, the schema id as four bytes, the value.
 */
public final class EncodeAvro extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final String schema;
    private final int id;
    private transient RecordEncoder encoder;

    /**
     * Creates the function.
     *
     * @param id the schema id at the registry
     * @throws SchemaMismatchException the schema cannot be parsed, or Spark has no type for it
     */
    public EncodeAvro(Expression child, String schema, int id) {
        super(child, schema, id);
        this.schema = schema;
        this.id = id;
    }

    /** Reports, before any record is encoded, which field does not fit the schema. */
    @Override
    public TypeCheckResult checkInputDataTypes() {
        try {
            newEncoder();
            return TypeCheckResult.TypeCheckSuccess$.MODULE$;
        } catch (SchemaMismatchException error) {
            return new TypeCheckResult.TypeCheckFailure(error.reason());
        }
    }

    private RecordEncoder newEncoder() {
        return new RecordEncoder(child().dataType(), CatalystTypes.parse(schema), id);
    }

    /** The encoded record. */
    @Override
    public byte[] call(Object value) {
        if (encoder == null) {
            encoder = newEncoder();
        }
        return encoder.encode(value);
    }

    @Override
    protected EncodeAvro withChild(Expression other) {
        return new EncodeAvro(other, schema, id);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_encode_avro";
    }
}
