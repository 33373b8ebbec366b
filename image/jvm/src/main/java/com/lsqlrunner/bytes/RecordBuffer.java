package com.lsqlrunner.bytes;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A growing array for the bytes of one record, reused for the next record. Numbers of fixed size are little-endian.
 * Integers of variable size have seven bits in each byte, lowest first, as in Avro and in Protobuf.
 */
public abstract class RecordBuffer {
    private static final int MAX_VARINT_BYTES = 10;

    private byte[] data = new byte[256];
    private ByteBuffer view = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    private int size;

    /** Discards the previous record, and writes the header of the next one. */
    public final void start(byte[] header) {
        size = 0;
        writeRaw(header);
    }

    /** A copy of the written bytes. */
    public final byte[] toBytes() {
        return Arrays.copyOf(data, size);
    }

    protected final int size() {
        return size;
    }

    protected final void writeByte(int value) {
        reserve(1);
        data[size++] = (byte) value;
    }

    protected final void writeUnsignedVarint(long value) {
        reserve(MAX_VARINT_BYTES);
        size = putVarint(value, size);
    }

    protected final void writeInt32(int value) {
        reserve(Integer.BYTES);
        view.putInt(size, value);
        size += Integer.BYTES;
    }

    protected final void writeInt64(long value) {
        reserve(Long.BYTES);
        view.putLong(size, value);
        size += Long.BYTES;
    }

    protected final void writeRaw(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, data, size, value.length);
        size += value.length;
    }

    /** Inserts the number of bytes from {@code start} to the end before these bytes. */
    protected final void insertLength(int start) {
        int length = size - start;
        int bytes = 1;
        for (int rest = length >>> 7; rest != 0; rest >>>= 7) {
            bytes++;
        }
        reserve(bytes);
        System.arraycopy(data, start, data, start + bytes, length);
        putVarint(length, start);
        size += bytes;
    }

    /** Maps numbers of small absolute value to small numbers without a sign. */
    public static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    private int putVarint(long value, int start) {
        int index = start;
        long bits = value;
        while ((bits & ~0x7FL) != 0) {
            data[index++] = (byte) (bits | 0x80);
            bits >>>= 7;
        }
        data[index++] = (byte) bits;
        return index;
    }

    private void reserve(int count) {
        if (size + count > data.length) {
            data = Arrays.copyOf(data, Math.max(data.length * 2, size + count));
            view = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
