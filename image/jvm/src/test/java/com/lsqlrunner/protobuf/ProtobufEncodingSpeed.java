package com.lsqlrunner.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.lsqlrunner.speed.SpeedComparison;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Compares {@link ProtobufInput} and {@link ProtobufOutput} with Protobuf's coded streams, on a record of seven values,
 * two of them in an inner message. Not a test: run it like {@link ProtobufSpeed}. Both check that strings are UTF-8, as
 * the decoder must.
 *
 * <p>The length of an inner message precedes it. {@code SIZES_KNOWN} writes lengths that the benchmark knows, so it is
 * a lower bound: a writer of rows would have to compute them first. {@code NESTED} writes the inner message to a second
 * stream.
 */
final class ProtobufEncodingSpeed {
    private static final byte[] NO_HEADER = {};
    private static final byte[] CUSTOMER = "customer-4711".getBytes(StandardCharsets.UTF_8);
    private static final byte[] STREET = "Main Street 12".getBytes(StandardCharsets.UTF_8);
    private static final byte[] ZIP = "10115".getBytes(StandardCharsets.UTF_8);
    private static final byte[] SCRATCH = new byte[256];
    private static final ByteArrayOutputStream OUTER = new ByteArrayOutputStream(256);
    private static final ByteArrayOutputStream INNER = new ByteArrayOutputStream(256);

    private ProtobufEncodingSpeed() {}

    public static void main(String[] arguments) throws Exception {
        ProtobufOutput buffer = new ProtobufOutput();
        byte[] record = ours(buffer);
        if (!Arrays.equals(record, library())
                || !Arrays.equals(record, growing())
                || !Arrays.equals(record, nested())) {
            throw new IllegalStateException("the writers write different bytes");
        }
        ProtobufInput in = new ProtobufInput();
        SpeedComparison.compare(
                "Protobuf, read",
                () -> ours(in.start(record, 0), new Object[7]),
                () -> library(CodedInputStream.newInstance(record), new Object[7]));
        SpeedComparison.compare(
                "Protobuf, write, array of fixed size, SIZES_KNOWN",
                () -> ours(buffer),
                ProtobufEncodingSpeed::library);
        SpeedComparison.compare(
                "Protobuf, write, growing array, SIZES_KNOWN", () -> ours(buffer), ProtobufEncodingSpeed::growing);
        SpeedComparison.compare(
                "Protobuf, write, growing array, NESTED", () -> ours(buffer), ProtobufEncodingSpeed::nested);
    }

    private static byte[] ours(ProtobufOutput to) {
        to.start(NO_HEADER);
        to.writeTag(1, WireType.VARINT);
        to.writeVarint(123_456_789L);
        to.writeTag(2, WireType.LENGTH);
        to.writeBytes(CUSTOMER);
        to.writeTag(3, WireType.FIXED64);
        to.writeFixed64(Double.doubleToRawLongBits(49.95));
        to.writeTag(4, WireType.VARINT);
        to.writeVarint(3);
        to.writeTag(5, WireType.VARINT);
        to.writeVarint(1);
        to.writeTag(6, WireType.LENGTH);
        int begun = to.begin();
        to.writeTag(7, WireType.LENGTH);
        to.writeBytes(STREET);
        to.writeTag(8, WireType.LENGTH);
        to.writeBytes(ZIP);
        to.end(begun);
        return to.toBytes();
    }

    private static byte[] library() throws Exception {
        CodedOutputStream to = CodedOutputStream.newInstance(SCRATCH);
        writeSizesKnown(to);
        return Arrays.copyOf(SCRATCH, to.getTotalBytesWritten());
    }

    private static byte[] growing() throws Exception {
        OUTER.reset();
        CodedOutputStream to = CodedOutputStream.newInstance(OUTER, SCRATCH.length);
        writeSizesKnown(to);
        to.flush();
        return OUTER.toByteArray();
    }

    private static byte[] nested() throws Exception {
        OUTER.reset();
        CodedOutputStream to = CodedOutputStream.newInstance(OUTER, SCRATCH.length);
        writeOuter(to);
        INNER.reset();
        CodedOutputStream inner = CodedOutputStream.newInstance(INNER, SCRATCH.length);
        writeInner(inner);
        inner.flush();
        to.writeByteArray(6, INNER.toByteArray());
        to.flush();
        return OUTER.toByteArray();
    }

    private static void writeSizesKnown(CodedOutputStream to) throws Exception {
        writeOuter(to);
        to.writeTag(6, WireType.LENGTH);
        to.writeUInt32NoTag(
                CodedOutputStream.computeByteArraySize(7, STREET) + CodedOutputStream.computeByteArraySize(8, ZIP));
        writeInner(to);
    }

    private static void writeOuter(CodedOutputStream to) throws Exception {
        to.writeInt64(1, 123_456_789L);
        to.writeByteArray(2, CUSTOMER);
        to.writeDouble(3, 49.95);
        to.writeInt32(4, 3);
        to.writeBool(5, true);
    }

    private static void writeInner(CodedOutputStream to) throws Exception {
        to.writeByteArray(7, STREET);
        to.writeByteArray(8, ZIP);
    }

    private static Object[] ours(ProtobufInput in, Object[] values) {
        while (in.hasMore()) {
            int tag = in.readTag();
            switch (tag >>> 3) {
                case 1 -> values[0] = in.readVarint();
                case 2 -> values[1] = in.readString();
                case 3 -> values[2] = Double.longBitsToDouble(in.readFixed64());
                case 4 -> values[3] = (int) in.readVarint();
                case 5 -> values[4] = in.readVarint() != 0;
                case 6 -> {
                    int outer = in.pushLimit();
                    ours(in, values);
                    in.popLimit(outer);
                }
                case 7 -> values[5] = in.readString();
                case 8 -> values[6] = in.readString();
                default -> in.skip(tag);
            }
        }
        return values;
    }

    private static UTF8String text(CodedInputStream in) throws Exception {
        byte[] bytes = in.readByteArray();
        return SpeedComparison.checked(bytes, bytes.length);
    }

    private static Object[] library(CodedInputStream in, Object[] values) throws Exception {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            switch (tag >>> 3) {
                case 1 -> values[0] = in.readInt64();
                case 2 -> values[1] = text(in);
                case 3 -> values[2] = in.readDouble();
                case 4 -> values[3] = in.readInt32();
                case 5 -> values[4] = in.readBool();
                case 6 -> {
                    int outer = in.pushLimit(in.readRawVarint32());
                    library(in, values);
                    in.popLimit(outer);
                }
                case 7 -> values[5] = text(in);
                case 8 -> values[6] = text(in);
                default -> in.skipField(tag);
            }
        }
        return values;
    }
}
