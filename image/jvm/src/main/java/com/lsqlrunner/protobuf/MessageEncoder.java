package com.lsqlrunner.protobuf;

import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Encodes structs as records in the wire format of a registry. Not thread-safe. */
final class MessageEncoder {
    private final MessageWriter writer;
    private final byte[] header;
    private final ProtobufOutput buffer = new ProtobufOutput();

    /** @throws com.lsqlrunner.errors.SchemaMismatchException the message cannot hold all values of the type */
    MessageEncoder(StructType type, MessageSpec message, int id) {
        writer = new MessageWriter(type, message.fields(), "");
        buffer.start(ByteBuffer.allocate(MessageDecoder.HEADER_BYTES)
                .put((byte) 0)
                .putInt(id)
                .array());
        boolean isFirst = message.indexes().size() == 1 && message.indexes().get(0) == 0;
        buffer.writeVarint(isFirst ? 0 : ProtobufOutput.zigzag(message.indexes().size()));
        if (!isFirst) {
            message.indexes().forEach(number -> buffer.writeVarint(ProtobufOutput.zigzag(number)));
        }
        header = buffer.toBytes();
    }

    /**
     * The encoded record.
     *
     * @throws com.lsqlrunner.errors.SchemaMismatchException the message cannot hold the value
     */
    byte[] encode(InternalRow value) {
        buffer.start(header);
        writer.write(value, buffer);
        return buffer.toBytes();
    }
}
