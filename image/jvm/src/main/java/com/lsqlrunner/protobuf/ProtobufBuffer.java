package com.lsqlrunner.protobuf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Bytes of one record, in Protobuf's encoding; used again for the next. */
final class ProtobufBuffer {
    private byte[] data = new byte[256];
    private ByteBuffer view = ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
    private int size;

    /** Begins a record: forgets what was written. */
    void start(byte[] header) {
        size = 0;
        writeRaw(header);
    }

    byte[] toBytes() {
        return Arrays.copyOf(data, size);
    }

    void writeTag(int number, int wire) {
        writeVarint(Integer.toUnsignedLong(number << 3 | wire));
    }

    void writeVarint(long value) {
        reserve(10);
        size = put(value, size);
    }

    private int put(long value, int at) {
        int place = at;
        long bits = value;
        while ((bits & ~0x7FL) != 0) {
            data[place++] = (byte) (bits | 0x80);
            bits >>>= 7;
        }
        data[place++] = (byte) bits;
        return place;
    }

    static long zigzag(long value) {
        return value << 1 ^ value >> 63;
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

    void writeBytes(byte[] value) {
        writeVarint(value.length);
        writeRaw(value);
    }

    /** Begins what has its length before it; {@link #end} takes what this gives. */
    int begin() {
        return size;
    }

    /** Puts the length before all that was written since. */
    void end(int from) {
        int length = size - from;
        int bytes = 1;
        for (int rest = length >>> 7; rest != 0; rest >>>= 7) {
            bytes++;
        }
        reserve(bytes);
        System.arraycopy(data, from, data, from + bytes, length);
        put(length, from);
        size += bytes;
    }

    private void writeRaw(byte[] value) {
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
