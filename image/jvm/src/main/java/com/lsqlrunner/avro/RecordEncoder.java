package com.lsqlrunner.avro;

import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;

/** Encodes values of one type as records in the wire format of a registry. Not thread-safe. */
final class RecordEncoder {
    private final ValueWriter writer;
    private final byte[] header;
    private final AvroOutput buffer = new AvroOutput();
    private final GenericInternalRow row = new GenericInternalRow(new Object[1]);

    /** @throws SchemaMismatchException the schema cannot hold all values of the type */
    RecordEncoder(DataType type, Schema schema, int id) {
        writer = ValueWriters.of(type, schema);
        header = ByteBuffer.allocate(RecordDecoder.HEADER_BYTES)
                .put((byte) 0)
                .putInt(id)
                .array();
    }

    /**
     * The encoded record.
     *
     * @throws SchemaMismatchException the schema cannot hold the value
     */
    byte[] encode(Object value) {
        buffer.start(header);
        row.update(0, value);
        writer.write(row, 0, buffer);
        return buffer.toBytes();
    }
}
