package com.lsqlrunner.protobuf;

import com.lsqlrunner.bytes.RecordBuffer;

/** Writes the fields of a record in Protobuf's encoding. */
final class ProtobufOutput extends RecordBuffer {
    void writeTag(int number, int wire) {
        writeVarint(Integer.toUnsignedLong(number << 3 | wire));
    }

    void writeVarint(long value) {
        writeUnsignedVarint(value);
    }

    void writeFixed32(int value) {
        writeInt32(value);
    }

    void writeFixed64(long value) {
        writeInt64(value);
    }

    /** Writes the length and the bytes. */
    void writeBytes(byte[] value) {
        writeVarint(value.length);
        writeRaw(value);
    }

    /** Starts a value that is preceded by its length. The result is the argument of {@link #end}. */
    int begin() {
        return size();
    }

    /** Ends a value that {@link #begin} started, and inserts its length before it. */
    void end(int start) {
        insertLength(start);
    }
}
