package com.lsqlrunner.protobuf;

import java.nio.ByteBuffer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.StructType;

/** Structs to records in the wire format of a registry. Not shared. */
final class RecordWriter {
    private final MessageWriter writer;
    private final byte[] header;
    private final ProtobufBuffer buffer = new ProtobufBuffer();

    /** @throws com.lsqlrunner.errors.SchemaMismatchException the message cannot hold all of the type */
    RecordWriter(StructType type, MessageSpec message, int id) {
        writer = new MessageWriter(type, message.fields(), "");
        buffer.start(ByteBuffer.allocate(RecordReader.HEADER)
                .put((byte) 0)
                .putInt(id)
                .array());
        boolean isFirst = message.place().size() == 1 && message.place().get(0) == 0;
        buffer.writeVarint(isFirst ? 0 : ProtobufBuffer.zigzag(message.place().size()));
        if (!isFirst) {
            message.place().forEach(number -> buffer.writeVarint(ProtobufBuffer.zigzag(number)));
        }
        header = buffer.toBytes();
    }

    /**
     * The record.
     *
     * @throws com.lsqlrunner.errors.SchemaMismatchException the message cannot hold the value
     */
    byte[] write(InternalRow value) {
        buffer.start(header);
        writer.write(value, buffer);
        return buffer.toBytes();
    }
}
