package com.lsqlrunner.avro;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/** Bytes of one record, in Avro's binary encoding; used again for the next. */
final class AvroBuffer {
    private byte[] data = new byte[256];
    private ByteBuffer view = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    private int size;

    /** Begins a record: forgets what was written. */
    void start(byte[] header) {
        size = 0;
        writeFixed(header);
    }

    byte[] toBytes() {
        return Arrays.copyOf(data, size);
    }

    void writeBoolean(boolean value) {
        reserve(1);
        data[size++] = (byte) (value ? 1 : 0);
    }

    void writeLong(long value) {
        reserve(10);
        long bits = value << 1 ^ value >> 63;
        while ((bits & ~0x7FL) != 0) {
            data[size++] = (byte) (bits | 0x80);
            bits >>>= 7;
        }
        data[size++] = (byte) bits;
    }

    void writeFloat(float value) {
        reserve(Float.BYTES);
        view.putFloat(size, value);
        size += Float.BYTES;
    }

    void writeDouble(double value) {
        reserve(Double.BYTES);
        view.putDouble(size, value);
        size += Double.BYTES;
    }

    void writeString(UTF8String value) {
        writeBytes(value.getBytes());
    }

    void writeBytes(byte[] value) {
        writeLong(value.length);
        writeFixed(value);
    }

    void writeFixed(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, data, size, value.length);
        size += value.length;
    }

    private void reserve(int more) {
        if (size + more > data.length) {
            data = Arrays.copyOf(data, Math.max(data.length * 2, size + more));
            view = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
