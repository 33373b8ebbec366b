package com.lsqlrunner.protobuf;

import com.lsqlrunner.expression.DecodingFunction;
import com.lsqlrunner.registry.Registry;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes Protobuf messages in the wire format of a schema registry to structs. Fields are identified by their numbers,
 * so the writer schema is only needed to identify the message.
 */
public final class DecodeProtobuf extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient MessageDecoder decoder;

    /**
     * Creates the function.
     *
     * @param type the fields to read
     * @param message the JSON that {@link MessageSpec} parses
     * @param registry the name that was passed to {@link Registry#register}
     */
    public DecodeProtobuf(Expression child, StructType type, String message, String registry) {
        super(child, type, message, registry);
    }

    @Override
    protected Object decoded(byte[] record) {
        if (decoder == null) {
            Registry registry = Registry.named(option(1));
            decoder = new MessageDecoder(MessageSpec.of(option(0)), (StructType) dataType(), registry::protobuf);
        }
        return decoder.read(record);
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
