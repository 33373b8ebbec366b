package com.lsqlrunner.avro;

import com.lsqlrunner.speed.SpeedComparison;
import java.io.ByteArrayOutputStream;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.util.Utf8;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Compares {@link AvroInput} and {@link AvroOutput} with Avro's decoder and encoder of bytes, on a record of nine
 * values in 59 bytes. Not a test: run it with the jars of Spark, like {@link DecodingSpeed}. Both check that strings
 * are UTF-8, as the decoder must.
 */
final class AvroEncodingSpeed {
    private static final byte[] NO_HEADER = {};
    private static final UTF8String CUSTOMER = UTF8String.fromString("customer-4711");
    private static final UTF8String COUNTRY = UTF8String.fromString("DE");
    private static final UTF8String STREET = UTF8String.fromString("Main Street 12");
    private static final UTF8String ZIP = UTF8String.fromString("10115");
    private static final UTF8String TAG = UTF8String.fromString("new");

    private AvroEncodingSpeed() {}

    public static void main(String[] arguments) throws Exception {
        AvroOutput buffer = new AvroOutput();
        byte[] record = ours(buffer);
        AvroInput in = new AvroInput();
        BinaryDecoder[] decoder = new BinaryDecoder[1];
        SpeedComparison.compare("Avro, read", () -> ours(in.start(record, 0)), () -> {
            decoder[0] = DecoderFactory.get().binaryDecoder(record, 0, record.length, decoder[0]);
            return library(decoder[0]);
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream(256);
        BinaryEncoder[] encoder = new BinaryEncoder[2];
        SpeedComparison.compare("Avro, write", () -> ours(buffer), () -> {
            out.reset();
            encoder[0] = EncoderFactory.get().binaryEncoder(out, encoder[0]);
            return library(encoder[0], out);
        });
        SpeedComparison.compare("Avro, write without Avro's buffer", () -> ours(buffer), () -> {
            out.reset();
            encoder[1] = EncoderFactory.get().directBinaryEncoder(out, encoder[1]);
            return library(encoder[1], out);
        });
    }

    private static byte[] ours(AvroOutput to) {
        to.start(NO_HEADER);
        to.writeLong(123_456_789L);
        to.writeString(CUSTOMER);
        to.writeLong(1);
        to.writeString(COUNTRY);
        to.writeDouble(49.95);
        to.writeLong(3);
        to.writeBoolean(true);
        to.writeString(STREET);
        to.writeString(ZIP);
        to.writeLong(1);
        to.writeString(TAG);
        to.writeLong(0);
        return to.toBytes();
    }

    private static byte[] library(BinaryEncoder to, ByteArrayOutputStream out) throws Exception {
        to.writeLong(123_456_789L);
        to.writeBytes(CUSTOMER.getBytes());
        to.writeIndex(1);
        to.writeBytes(COUNTRY.getBytes());
        to.writeDouble(49.95);
        to.writeInt(3);
        to.writeBoolean(true);
        to.writeBytes(STREET.getBytes());
        to.writeBytes(ZIP.getBytes());
        to.writeArrayStart();
        to.setItemCount(1);
        to.writeBytes(TAG.getBytes());
        to.writeArrayEnd();
        to.flush();
        return out.toByteArray();
    }

    private static Object[] ours(AvroInput in) {
        Object[] values = new Object[9];
        values[0] = in.readLong();
        values[1] = in.readString();
        values[2] = in.readIndex(2) == 0 ? null : in.readString();
        values[3] = in.readDouble();
        values[4] = in.readInt();
        values[5] = in.readBoolean();
        values[6] = in.readString();
        values[7] = in.readString();
        for (long count = in.readCount(); count > 0; count = in.readCount()) {
            values[8] = in.readString();
        }
        return values;
    }

    private static Object[] library(BinaryDecoder in) throws Exception {
        Object[] values = new Object[9];
        values[0] = in.readLong();
        values[1] = text(in);
        values[2] = in.readIndex() == 0 ? null : text(in);
        values[3] = in.readDouble();
        values[4] = in.readInt();
        values[5] = in.readBoolean();
        values[6] = text(in);
        values[7] = text(in);
        for (long count = in.readArrayStart(); count > 0; count = in.arrayNext()) {
            values[8] = text(in);
        }
        return values;
    }

    /** Avro copies each string into a new array, which Spark's string then uses. */
    private static UTF8String text(BinaryDecoder in) throws Exception {
        Utf8 text = in.readString(null);
        return SpeedComparison.checked(text.getBytes(), text.getByteLength());
    }
}
