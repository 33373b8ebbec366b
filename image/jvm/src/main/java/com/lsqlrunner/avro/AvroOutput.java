package com.lsqlrunner.avro;

import com.lsqlrunner.bytes.RecordBuffer;
import org.apache.spark.unsafe.types.UTF8String;

/** Writes the values of a record in Avro's binary encoding. */
final class AvroOutput extends RecordBuffer {
    void writeBoolean(boolean value) {
        writeByte(value ? 1 : 0);
    }

    void writeLong(long value) {
        writeUnsignedVarint(zigzag(value));
    }

    void writeFloat(float value) {
        writeInt32(Float.floatToRawIntBits(value));
    }

    void writeDouble(double value) {
        writeInt64(Double.doubleToRawLongBits(value));
    }

    void writeString(UTF8String value) {
        writeBytes(value.getBytes());
    }

    /** Writes the length and the bytes. */
    void writeBytes(byte[] value) {
        writeLong(value.length);
        writeRaw(value);
    }

    /** Writes bytes whose number the schema defines. */
    void writeFixed(byte[] value) {
        writeRaw(value);
    }
}
