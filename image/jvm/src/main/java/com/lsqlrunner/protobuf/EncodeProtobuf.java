package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Encodes a struct as Protobuf in the wire format of a schema registry: a zero byte, the schema id, the message
 * indexes, the fields.
 */
public final class EncodeProtobuf extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final int id;
    private transient MessageEncoder encoder;

    /**
     * Creates the function.
     *
     * @param message the JSON that {@link MessageSpec} parses
     * @param id of its schema at the registry
     */
    public EncodeProtobuf(Expression child, String message, int id) {
        super(child, message, id);
        this.message = message;
        this.id = id;
    }

    /** Reports, before any record is encoded, which field does not fit the message. */
    @Override
    public TypeCheckResult checkInputDataTypes() {
        try {
            newEncoder();
            return TypeCheckResult.TypeCheckSuccess$.MODULE$;
        } catch (SchemaMismatchException error) {
            return new TypeCheckResult.TypeCheckFailure(error.reason());
        }
    }

    private MessageEncoder newEncoder() {
        if (!(child().dataType() instanceof StructType type)) {
            throw new SchemaMismatchException(
                    "a Protobuf message is a struct, not " + child().dataType().simpleString());
        }
        return new MessageEncoder(type, MessageSpec.of(message), id);
    }

    /** The encoded record. */
    @Override
    public byte[] call(Object value) {
        if (encoder == null) {
            encoder = newEncoder();
        }
        return encoder.encode((InternalRow) value);
    }

    @Override
    protected EncodeProtobuf withChild(Expression other) {
        return new EncodeProtobuf(other, message, id);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_encode_protobuf";
    }
}
