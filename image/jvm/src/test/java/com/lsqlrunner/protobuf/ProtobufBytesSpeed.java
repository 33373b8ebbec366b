package com.lsqlrunner.protobuf;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.lsqlrunner.speed.Paired;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Our byte layer of Protobuf beside Protobuf's own, on a record of seven values, two of them in an inner message; not a
 * test. Run it as {@link ProtobufSpeed}.
 */
final class ProtobufBytesSpeed {
    private static final byte[] NO_HEADER = {};
    private static final byte[] CUSTOMER = "customer-4711".getBytes(StandardCharsets.UTF_8);
    private static final byte[] STREET = "Main Street 12".getBytes(StandardCharsets.UTF_8);
    private static final byte[] ZIP = "10115".getBytes(StandardCharsets.UTF_8);
    private static final byte[] SCRATCH = new byte[256];

    private ProtobufBytesSpeed() {}

    public static void main(String[] arguments) throws Exception {
        ProtobufBuffer buffer = new ProtobufBuffer();
        byte[] record = ours(buffer);
        if (!Arrays.equals(record, library())) {
            throw new IllegalStateException("the two write different bytes");
        }
        ProtobufBytes in = new ProtobufBytes();
        Paired.compare(
                "Protobuf, read",
                () -> ours(in.start(record, 0), new Object[7]),
                () -> library(CodedInputStream.newInstance(record), new Object[7]));
        Paired.compare("Protobuf, write", () -> ours(buffer), ProtobufBytesSpeed::library);
    }

    private static byte[] ours(ProtobufBuffer to) {
        to.start(NO_HEADER);
        to.writeTag(1, Wire.VARINT);
        to.writeVarint(123_456_789L);
        to.writeTag(2, Wire.LENGTH);
        to.writeBytes(CUSTOMER);
        to.writeTag(3, Wire.FIXED64);
        to.writeFixed64(Double.doubleToRawLongBits(49.95));
        to.writeTag(4, Wire.VARINT);
        to.writeVarint(3);
        to.writeTag(5, Wire.VARINT);
        to.writeVarint(1);
        to.writeTag(6, Wire.LENGTH);
        int begun = to.begin();
        to.writeTag(7, Wire.LENGTH);
        to.writeBytes(STREET);
        to.writeTag(8, Wire.LENGTH);
        to.writeBytes(ZIP);
        to.end(begun);
        return to.toBytes();
    }

    private static byte[] library() throws Exception {
        CodedOutputStream to = CodedOutputStream.newInstance(SCRATCH);
        to.writeInt64(1, 123_456_789L);
        to.writeByteArray(2, CUSTOMER);
        to.writeDouble(3, 49.95);
        to.writeInt32(4, 3);
        to.writeBool(5, true);
        to.writeTag(6, Wire.LENGTH);
        to.writeUInt32NoTag(
                CodedOutputStream.computeByteArraySize(7, STREET) + CodedOutputStream.computeByteArraySize(8, ZIP));
        to.writeByteArray(7, STREET);
        to.writeByteArray(8, ZIP);
        return Arrays.copyOf(SCRATCH, to.getTotalBytesWritten());
    }

    private static Object[] ours(ProtobufBytes in, Object[] values) {
        while (in.hasMore()) {
            int tag = in.readTag();
            switch (tag >>> 3) {
                case 1 -> values[0] = in.readVarint();
                case 2 -> values[1] = in.readString();
                case 3 -> values[2] = Double.longBitsToDouble(in.readFixed64());
                case 4 -> values[3] = (int) in.readVarint();
                case 5 -> values[4] = in.readVarint() != 0;
                case 6 -> {
                    int outer = in.enter();
                    ours(in, values);
                    in.leave(outer);
                }
                case 7 -> values[5] = in.readString();
                case 8 -> values[6] = in.readString();
                default -> in.skip(tag);
            }
        }
        return values;
    }

    private static Object[] library(CodedInputStream in, Object[] values) throws Exception {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            switch (tag >>> 3) {
                case 1 -> values[0] = in.readInt64();
                case 2 -> values[1] = UTF8String.fromBytes(in.readByteArray());
                case 3 -> values[2] = in.readDouble();
                case 4 -> values[3] = in.readInt32();
                case 5 -> values[4] = in.readBool();
                case 6 -> {
                    int outer = in.pushLimit(in.readRawVarint32());
                    library(in, values);
                    in.popLimit(outer);
                }
                case 7 -> values[5] = UTF8String.fromBytes(in.readByteArray());
                case 8 -> values[6] = UTF8String.fromBytes(in.readByteArray());
                default -> in.skipField(tag);
            }
        }
        return values;
    }
}
