package com.lsqlrunner.avro;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;

/** Encodes values of one type as records in the wire format of a registry. Not thread-safe. */
final class RecordEncoder {
    private final ValueWriter writer;
    private final byte[] header;
    private final ByteArrayOutputStream record = new ByteArrayOutputStream(256);
    private final BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(record, null);
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
        row.update(0, value);
        try {
            encoder.flush(); // a record that could not be encoded may have left bytes
            record.reset();
            record.writeBytes(header);
            writer.write(row, 0, encoder);
            encoder.flush();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return record.toByteArray();
    }
}
