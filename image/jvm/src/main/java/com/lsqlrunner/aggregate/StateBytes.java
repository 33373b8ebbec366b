package com.lsqlrunner.aggregate;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** The bytes of a state, written or read sequentially. Small numbers take few bytes. */
final class StateBytes {
    private byte[] data;
    private int position;

    private StateBytes(byte[] data) {
        this.data = data;
    }

    static StateBytes empty() {
        return new StateBytes(new byte[64]);
    }

    static StateBytes of(byte[] data) {
        return new StateBytes(data);
    }

    int size() {
        return position;
    }

    byte[] toBytes() {
        return Arrays.copyOf(data, position);
    }

    void writeByte(int value) {
        reserve(1);
        data[position++] = (byte) value;
    }

    void writeLong(long value) {
        reserve(10);
        long bits = value << 1 ^ value >> 63;
        while ((bits & ~0x7FL) != 0) {
            data[position++] = (byte) (bits | 0x80);
            bits >>>= 7;
        }
        data[position++] = (byte) bits;
    }

    void writeDouble(double value) {
        reserve(Double.BYTES);
        ByteBuffer.wrap(data).putDouble(position, value);
        position += Double.BYTES;
    }

    void writeBytes(byte[] value) {
        writeLong(value.length);
        reserve(value.length);
        System.arraycopy(value, 0, data, position, value.length);
        position += value.length;
    }

    int readByte() {
        return data[position++];
    }

    long readLong() {
        long bits = 0;
        int shift = 0;
        byte next;
        do {
            next = data[position++];
            bits |= (next & 0x7FL) << shift;
            shift += 7;
        } while (next < 0);
        return bits >>> 1 ^ -(bits & 1);
    }

    double readDouble() {
        position += Double.BYTES;
        return ByteBuffer.wrap(data).getDouble(position - Double.BYTES);
    }

    byte[] readBytes() {
        int length = (int) readLong();
        position += length;
        return Arrays.copyOfRange(data, position - length, position);
    }

    private void reserve(int count) {
        if (position + count > data.length) {
            data = Arrays.copyOf(data, Math.max(data.length * 2, position + count));
        }
    }
}
