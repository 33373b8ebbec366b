package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** A value to Avro in the wire format of a registry: a zero, the id of the schema as four bytes, the value. */
public final class EncodeAvro extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final String schema;
    private final int id;
    private transient RecordEncoder encoder;

    /**
     * The function.
     *
     * @param id of the schema at the registry
     * @throws SchemaMismatchException the schema cannot be read, or Spark has no type for it
     */
    public EncodeAvro(Expression child, String schema, int id) {
        super(child, schema, id);
        this.schema = schema;
        this.id = id;
    }

    /** Says, before anything runs, which field does not fit the schema. */
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
        return new RecordEncoder(child().dataType(), CatalystTypes.parsed(schema), id);
    }

    /** The record of a value. */
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
