package com.lsqlrunner.protobuf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Writes the fields of a record in Protobuf's encoding, to a growing array that is reused for the next record. */
final class ProtobufOutput {
    private static final int MAX_VARINT_BYTES = 10;

    private byte[] data = new byte[256];
    private ByteBuffer view = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    private int size;

    /** Discards the previous record, and writes the header of the next one. */
    void start(byte[] header) {
        size = 0;
        writeRaw(header);
    }

    /** A copy of the written bytes. */
    byte[] toBytes() {
        return Arrays.copyOf(data, size);
    }

    void writeTag(int number, int wire) {
        writeVarint(Integer.toUnsignedLong(number << 3 | wire));
    }

    /** Writes seven bits in each byte, lowest first. */
    void writeVarint(long value) {
        reserve(MAX_VARINT_BYTES);
        size = putVarint(value, size);
    }

    void writeFixed32(int value) {
        reserve(Integer.BYTES);
        view.putInt(size, value);
        size += Integer.BYTES;
    }

    void writeFixed64(long value) {
        reserve(Long.BYTES);
        view.putLong(size, value);
        size += Long.BYTES;
    }

    /** Writes the length and the bytes. */
    void writeBytes(byte[] value) {
        writeVarint(value.length);
        writeRaw(value);
    }

    /** Starts a value that is preceded by its length. The result is the argument of {@link #end}. */
    int begin() {
        return size;
    }

    /** Ends a value that {@link #begin} started, and inserts its length before it. */
    void end(int start) {
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
    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
    }

    private void writeRaw(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, data, size, value.length);
        size += value.length;
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
