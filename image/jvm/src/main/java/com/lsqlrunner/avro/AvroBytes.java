package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A place in a record's bytes, read forwards: Avro's binary encoding. Avro's own decoder copies each string; these are
 * windows on the record. Whatever the bytes are, reading them ends, in a value or in {@link MalformedRecordException}.
 */
final class AvroBytes {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** Items may take no bytes at all, so a count is no proof of what is there. */
    private static final int ITEMS_WITHOUT_BYTES = 1_000_000;

    private byte[] data;
    private int at;

    /** Goes to a place of other bytes. */
    AvroBytes start(byte[] record, int from) {
        data = record;
        at = from;
        return this;
    }

    int left() {
        return data.length - at;
    }

    boolean readBoolean() {
        byte value = data[take(1)];
        if (value != 0 && value != 1) {
            throw new MalformedRecordException("a boolean is neither 0 nor 1");
        }
        return value == 1;
    }

    int readInt() {
        long value = readLong();
        if (value != (int) value) {
            throw new MalformedRecordException("a number is too large for an int");
        }
        return (int) value;
    }

    long readLong() {
        long bits = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at >= data.length) {
                throw ended();
            }
            byte next = data[at++];
            bits |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return bits >>> 1 ^ -(bits & 1);
            }
        }
        throw new MalformedRecordException("a number has more than 10 bytes");
    }

    float readFloat() {
        return Float.intBitsToFloat((int) INT.get(data, take(Float.BYTES)));
    }

    double readDouble() {
        return Double.longBitsToDouble((long) LONG.get(data, take(Double.BYTES)));
    }

    /** A window on the record, which must not be changed afterwards. */
    UTF8String readString() {
        int length = readLength();
        int from = take(length);
        UTF8String text = UTF8String.fromBytes(data, from, length);
        for (int i = from; i < from + length; i++) {
            if (data[i] < 0) {
                if (!text.isValid()) {
                    throw new MalformedRecordException("a string is not UTF-8");
                }
                break;
            }
        }
        return text;
    }

    byte[] readBytes() {
        return readFixed(readLength());
    }

    byte[] readFixed(int length) {
        int from = take(length);
        return Arrays.copyOfRange(data, from, from + length);
    }

    /** A place in a list of so many: the branch of a union, the symbol of an enum. */
    int readIndex(int size) {
        long index = readLong();
        if (index < 0 || index >= size) {
            throw new MalformedRecordException("a union or an enum has no choice " + index);
        }
        return (int) index;
    }

    /** The number of items in the next block of an array or a map; 0 ends it. */
    int readCount() {
        long count = readLong();
        if (count < 0) {
            count = -count;
            readLength();
        }
        if (count < 0 || count > (long) left() + ITEMS_WITHOUT_BYTES) {
            throw ended();
        }
        return (int) count;
    }

    /** The number of bytes that follow. */
    int readLength() {
        long length = readLong();
        if (length < 0) {
            throw new MalformedRecordException("a length is negative");
        }
        if (length > left()) {
            throw ended();
        }
        return (int) length;
    }

    void skip(int length) {
        take(length);
    }

    private int take(int length) {
        int from = at;
        if (length > data.length - from) {
            throw ended();
        }
        at = from + length;
        return from;
    }

    private static MalformedRecordException ended() {
        return new MalformedRecordException("the record ends in the middle of a value");
    }
}
