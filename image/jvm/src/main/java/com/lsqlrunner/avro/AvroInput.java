package com.lsqlrunner.avro;

import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads Avro's binary encoding from the bytes of a record. Avro's own decoder copies each string; the strings returned
 * here are views of the record. For any bytes, a read ends with a value or with {@link MalformedRecordException}.
 */
final class AvroInput {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final RecordBudget budget = new RecordBudget();
    private byte[] data;
    private int position;

    /** Starts to read other bytes at an offset. */
    AvroInput start(byte[] record, int from) {
        data = record;
        position = from;
        budget.start(record.length);
        return this;
    }

    /** Counts the items that readers create. */
    RecordBudget budget() {
        return budget;
    }

    /** The index of the next byte. */
    int position() {
        return position;
    }

    /** Continues to read at the index of a byte. */
    void moveTo(int index) {
        position = index;
    }

    int remaining() {
        return data.length - position;
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
        if (position < data.length && data[position] >= 0) { // a number of one byte
            int single = data[position++];
            return single >>> 1 ^ -(single & 1);
        }
        return readLongOfSeveralBytes();
    }

    private long readLongOfSeveralBytes() {
        long bits = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (position >= data.length) {
                throw unexpectedEnd();
            }
            byte next = data[position++];
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
        return readFixed(readLength());
    }

    byte[] readFixed(int length) {
        int from = take(length);
        return Arrays.copyOfRange(data, from, from + length);
    }

    /** An index into a list of {@code size} items: the branch of a union, or the symbol of an enum. */
    int readIndex(int size) {
        long index = readLong();
        if (index < 0 || index >= size) {
            throw new MalformedRecordException("the union or enum has no item " + index);
        }
        return (int) index;
    }

    /**
     * The number of items in the next block of an array or a map; 0 after the last block. Items such as nulls take no
     * bytes, so there may be more items than remaining bytes.
     */
    long readCount() {
        long count = readLong();
        if (count < 0) {
            count = -count;
            readLength();
        }
        if (count < 0) {
            throw unexpectedEnd();
        }
        return count;
    }

    /** The number of bytes that follow. */
    int readLength() {
        long length = readLong();
        if (length < 0) {
            throw new MalformedRecordException("a length is negative");
        }
        if (length > remaining()) {
            throw unexpectedEnd();
        }
        return (int) length;
    }

    /** Skips integers of variable size. */
    void skipNumbers(int count) {
        for (int i = 0; i < count; i++) {
            readLong();
        }
    }

    void skip(int length) {
        take(length);
    }

    private int take(int length) {
        int from = position;
        if (length > data.length - from) {
            throw unexpectedEnd();
        }
        position = from + length;
        return from;
    }

    private static MalformedRecordException unexpectedEnd() {
        return new MalformedRecordException("the record ends in the middle of a value");
    }
}
