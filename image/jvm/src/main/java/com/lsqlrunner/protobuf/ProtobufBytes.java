package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A place in a record's bytes, read forwards: Protobuf's encoding. Whatever the bytes are, reading them ends, in a
 * value or in {@link MalformedRecordException}.
 */
final class ProtobufBytes {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int DEEPEST_GROUP = 100;

    private byte[] data;
    private int at;
    private int end;

    /** Goes to a place of other bytes. */
    ProtobufBytes start(byte[] record, int from) {
        data = record;
        at = from;
        end = record.length;
        return this;
    }

    boolean hasMore() {
        return at < end;
    }

    int left() {
        return end - at;
    }

    /** Makes the next bytes all that there are; {@link #leave} takes what this gives. */
    int enter() {
        int length = readLength();
        int outer = end;
        end = at + length;
        return outer;
    }

    void leave(int outer) {
        end = outer;
    }

    /** The number of a field, and how its value is laid out behind it. */
    int readTag() {
        int tag = (int) readVarint();
        if (tag >>> 3 == 0) {
            throw new MalformedRecordException("a field has the number 0");
        }
        return tag;
    }

    long readVarint() {
        long bits = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            if (at >= end) {
                throw ended();
            }
            byte next = data[at++];
            bits |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return bits;
            }
        }
        throw new MalformedRecordException("a number has more than 10 bytes");
    }

    static int fromZigzag(int bits) {
        return bits >>> 1 ^ -(bits & 1);
    }

    static long fromZigzag(long bits) {
        return bits >>> 1 ^ -(bits & 1);
    }

    int readFixed32() {
        return (int) INT.get(data, take(Integer.BYTES));
    }

    long readFixed64() {
        return (long) LONG.get(data, take(Long.BYTES));
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
        int length = readLength();
        int from = take(length);
        return Arrays.copyOfRange(data, from, from + length);
    }

    /** Goes behind the value of a field that nobody reads. */
    void skip(int tag) {
        skip(tag, 0);
    }

    private void skip(int tag, int depth) {
        switch (tag & 7) {
            case Wire.VARINT -> readVarint();
            case Wire.FIXED64 -> take(Long.BYTES);
            case Wire.LENGTH -> take(readLength());
            case Wire.FIXED32 -> take(Integer.BYTES);
            case Wire.START_GROUP -> skipGroup(tag >>> 3, depth);
            default ->
                throw new MalformedRecordException("field %d is laid out in no way that there is".formatted(tag >>> 3));
        }
    }

    private void skipGroup(int number, int depth) {
        if (depth >= DEEPEST_GROUP) {
            throw new MalformedRecordException("groups are more than %d deep".formatted(DEEPEST_GROUP));
        }
        while (true) {
            int tag = readTag();
            if ((tag & 7) == Wire.END_GROUP) {
                if (tag >>> 3 != number) {
                    throw new MalformedRecordException("a group ends as another");
                }
                return;
            }
            skip(tag, depth + 1);
        }
    }

    private int readLength() {
        long length = (int) readVarint();
        if (length < 0) {
            throw new MalformedRecordException("a length is negative");
        }
        if (length > left()) {
            throw ended();
        }
        return (int) length;
    }

    private int take(int length) {
        int from = at;
        if (length > end - from) {
            throw ended();
        }
        at = from + length;
        return from;
    }

    private static MalformedRecordException ended() {
        return new MalformedRecordException("the record ends in the middle of a value");
    }
}
