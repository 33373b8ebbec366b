package com.lsqlrunner.protobuf;

import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads Protobuf's encoding from the bytes of a record. For any bytes, a read ends with a value or with
 * {@link MalformedRecordException}.
 */
final class ProtobufInput {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final RecordBudget budget = new RecordBudget();
    private byte[] data;
    private int position;
    private int limit;

    /** Starts to read other bytes at an offset. */
    ProtobufInput start(byte[] record, int from) {
        data = record;
        position = from;
        limit = record.length;
        budget.start(record.length);
        return this;
    }

    /** Counts the values that readers create. */
    RecordBudget budget() {
        return budget;
    }

    boolean hasMore() {
        return position < limit;
    }

    int remaining() {
        return limit - position;
    }

    /** Reads a length and limits reading to that many bytes. Returns the previous limit for {@link #popLimit}. */
    int pushLimit() {
        int length = readLength();
        int previous = limit;
        limit = position + length;
        return previous;
    }

    void popLimit(int previous) {
        limit = previous;
    }

    /** The number of a field and the wire type of its value. */
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
            if (position >= limit) {
                throw unexpectedEnd();
            }
            byte next = data[position++];
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

    /** A view of the record, which must not be changed afterwards. */
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

    /** Skips the value that follows a tag. */
    void skip(int tag) {
        skip(tag, 0);
    }

    private void skip(int tag, int depth) {
        switch (tag & 7) {
            case WireType.VARINT -> readVarint();
            case WireType.FIXED64 -> take(Long.BYTES);
            case WireType.LENGTH -> take(readLength());
            case WireType.FIXED32 -> take(Integer.BYTES);
            case WireType.START_GROUP -> skipGroup(tag >>> 3, depth + 1);
            default -> throw new MalformedRecordException("a value has an unknown wire type");
        }
    }

    private void skipGroup(int number, int depth) {
        RecordBudget.checkDepth(depth);
        while (true) {
            int tag = readTag();
            if ((tag & 7) == WireType.END_GROUP) {
                if (tag >>> 3 != number) {
                    throw new MalformedRecordException("a group ends with the number of another field");
                }
                return;
            }
            skip(tag, depth);
        }
    }

    private int readLength() {
        long length = (int) readVarint();
        if (length < 0) {
            throw new MalformedRecordException("a length is negative");
        }
        if (length > remaining()) {
            throw unexpectedEnd();
        }
        return (int) length;
    }

    private int take(int length) {
        int from = position;
        if (length > limit - from) {
            throw unexpectedEnd();
        }
        position = from + length;
        return from;
    }

    private static MalformedRecordException unexpectedEnd() {
        return new MalformedRecordException("the record ends in the middle of a value");
    }
}
