package com.lsqlrunner.protobuf;

import com.lsqlrunner.expression.DecodingFunction;
import com.lsqlrunner.registry.Registry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;

/**
 * Protobuf in the wire format of a registry to a struct. Fields go by their numbers, so a record's own schema is asked
 * for one thing only: which message it is.
 */
public final class DecodeProtobuf extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient RecordReader reader;

    /**
     * The function.
     *
     * @param type the fields to read
     * @param message as {@link MessageSpec} reads it
     * @param registry the name that {@link Registry#register} was given
     */
    public DecodeProtobuf(Expression child, StructType type, String message, String registry) {
        super(child, type, message, registry);
    }

    @Override
    protected Object decoded(byte[] record) {
        if (reader == null) {
            Registry registry = Registry.named(option(1));
            reader = new RecordReader(MessageSpec.of(option(0)), (StructType) dataType(), registry::protobuf);
        }
        return reader.read(record);
    }

    @Override
    protected DecodeProtobuf withChild(Expression other) {
        return new DecodeProtobuf(other, (StructType) dataType(), option(0), option(1));
    }

    @Override
    public String prettyName() {
        return "lsql_decode_protobuf";
    }
}
