package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** A struct to Protobuf in the wire format of a registry: a zero, the id of the schema, the message, the fields. */
public final class EncodeProtobuf extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final String message;
    private final int id;
    private transient RecordWriter writer;

    /**
     * The function.
     *
     * @param message as {@link MessageSpec} reads it
     * @param id of its schema at the registry
     */
    public EncodeProtobuf(Expression child, String message, int id) {
        super(child, message, id);
        this.message = message;
        this.id = id;
    }

    /** Says, before anything runs, which field does not fit the message. */
    @Override
    public TypeCheckResult checkInputDataTypes() {
        try {
            newWriter();
            return TypeCheckResult.TypeCheckSuccess$.MODULE$;
        } catch (SchemaMismatchException error) {
            return new TypeCheckResult.TypeCheckFailure(error.reason());
        }
    }

    private RecordWriter newWriter() {
        if (!(child().dataType() instanceof StructType type)) {
            throw new SchemaMismatchException("a record of Protobuf is a struct, not "
                    + child().dataType().simpleString());
        }
        return new RecordWriter(type, MessageSpec.of(message), id);
    }

    /** The record of a value. */
    @Override
    public byte[] call(Object value) {
        if (writer == null) {
            writer = newWriter();
        }
        return writer.write((InternalRow) value);
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
