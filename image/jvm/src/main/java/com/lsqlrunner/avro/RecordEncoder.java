package com.lsqlrunner.avro;

import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;

/** Values of one type to records in the wire format of a registry. Not shared. */
final class RecordEncoder {
    private final ValueWriter writer;
    private final byte[] header;
    private final AvroBuffer buffer = new AvroBuffer();
    private final GenericInternalRow whole = new GenericInternalRow(new Object[1]);

    /** @throws SchemaMismatchException the schema cannot hold all of the type */
    RecordEncoder(DataType type, Schema schema, int id) {
        writer = Writers.of(type, schema);
        header = ByteBuffer.allocate(RecordDecoder.HEADER)
                .put((byte) 0)
                .putInt(id)
                .array();
    }

    /**
     * The record.
     *
     * @throws SchemaMismatchException the schema cannot hold the value
     */
    byte[] encode(Object value) {
        buffer.start(header);
        whole.update(0, value);
        writer.write(whole, 0, buffer);
        return buffer.toBytes();
    }
}
