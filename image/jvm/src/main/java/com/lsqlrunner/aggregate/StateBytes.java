package com.lsqlrunner.aggregate;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes of a state, written from the start or read from it. Small numbers take few bytes. */
final class StateBytes {
    private byte[] data;
    private int at;

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
        return at;
    }

    byte[] toBytes() {
        return Arrays.copyOf(data, at);
    }

    void writeByte(int value) {
        reserve(1);
        data[at++] = (byte) value;
    }

    void writeLong(long value) {
        reserve(10);
        long bits = value << 1 ^ value >> 63;
        while ((bits & ~0x7FL) != 0) {
            data[at++] = (byte) (bits | 0x80);
            bits >>>= 7;
        }
        data[at++] = (byte) bits;
    }

    void writeDouble(double value) {
        reserve(Double.BYTES);
        ByteBuffer.wrap(data).putDouble(at, value);
        at += Double.BYTES;
    }

    void writeBytes(byte[] value) {
        writeLong(value.length);
        reserve(value.length);
        System.arraycopy(value, 0, data, at, value.length);
        at += value.length;
    }

    int readByte() {
        return data[at++];
    }

    long readLong() {
        long bits = 0;
        int shift = 0;
        byte next;
        do {
            next = data[at++];
            bits |= (next & 0x7FL) << shift;
            shift += 7;
        } while (next < 0);
        return bits >>> 1 ^ -(bits & 1);
    }

    double readDouble() {
        at += Double.BYTES;
        return ByteBuffer.wrap(data).getDouble(at - Double.BYTES);
    }

    byte[] readBytes() {
        int length = (int) readLong();
        at += length;
        return Arrays.copyOfRange(data, at - length, at);
    }

    private void reserve(int more) {
        if (at + more > data.length) {
            data = Arrays.copyOf(data, Math.max(data.length * 2, at + more));
        }
    }
}
