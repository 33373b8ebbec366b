package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Readers of scalar values. Where writer and reader both name a unit or a scale, the value is converted: Avro's
 * resolution takes the number as it is, so it would take seconds for milliseconds.
 */
final class ScalarReaders {
    private static final BigInteger LONGEST = BigInteger.TEN.pow(18);

    private ScalarReaders() {}

    /** A reader of a value that the writer's type can be promoted to, or that both have. */
    static ValueReader of(Schema writer, Schema reader) {
        return switch (reader.getType()) {
            case NULL -> in -> null;
            case BOOLEAN -> AvroBytes::readBoolean;
            case INT -> AvroBytes::readInt;
            case LONG -> longs(writer, reader);
            case FLOAT -> floats(writer);
            case DOUBLE -> doubles(writer);
            case STRING -> AvroBytes::readString;
            case BYTES -> bytes(writer, reader, AvroBytes::readBytes);
            case FIXED -> fixed(writer, reader);
            default -> throw new IllegalArgumentException(reader.getType().toString());
        };
    }

    private static ValueReader longs(Schema writer, Schema reader) {
        TimeUnit to = TimeUnit.of(reader);
        TimeUnit from = TimeUnit.of(writer);
        if (to == null || from == null || from.kind != to.kind) {
            from = to;
        }
        // Spark's timestamps are microseconds whatever the schema says; times of a day stay in the unit of the reader.
        long each = to == null ? 1 : from.nanos;
        long wanted = to == null ? 1 : to.kind == TimeUnit.Kind.TIME ? to.nanos : TimeUnit.MICROS;
        boolean isInt = writer.getType() == Schema.Type.INT;
        if (each == wanted) {
            return isInt ? in -> (long) in.readInt() : AvroBytes::readLong;
        }
        if (each < wanted) {
            return in -> Math.floorDiv(in.readLong(), wanted / each);
        }
        return in -> multiplied(in.readLong(), each / wanted);
    }

    private static Long multiplied(long value, long factor) {
        try {
            return Math.multiplyExact(value, factor);
        } catch (ArithmeticException error) {
            throw new MalformedRecordException("a timestamp is too far away");
        }
    }

    private static ValueReader floats(Schema writer) {
        return switch (writer.getType()) {
            case INT -> in -> (float) in.readInt();
            case LONG -> in -> (float) in.readLong();
            default -> AvroBytes::readFloat;
        };
    }

    private static ValueReader doubles(Schema writer) {
        return switch (writer.getType()) {
            case INT -> in -> (double) in.readInt();
            case LONG -> in -> (double) in.readLong();
            case FLOAT -> in -> (double) in.readFloat();
            default -> AvroBytes::readDouble;
        };
    }

    private static ValueReader fixed(Schema writer, Schema reader) {
        int size = writer.getFixedSize();
        if (CatalystTypes.logical(reader).equals("uuid")) {
            return in -> {
                ByteBuffer bits = ByteBuffer.wrap(in.readFixed(size));
                return UTF8String.fromString(new UUID(bits.getLong(), bits.getLong()).toString());
            };
        }
        return bytes(writer, reader, in -> in.readFixed(size));
    }

    private static ValueReader bytes(Schema writer, Schema reader, ValueReader raw) {
        if (!(reader.getLogicalType() instanceof LogicalTypes.Decimal to)) {
            return raw;
        }
        int scale = writer.getLogicalType() instanceof LogicalTypes.Decimal from ? from.getScale() : to.getScale();
        return in -> decimal((byte[]) raw.read(in), scale, to.getPrecision(), to.getScale());
    }

    private static Decimal decimal(byte[] digits, int from, int precision, int scale) {
        if (digits.length == 0) {
            throw new MalformedRecordException("a decimal has no bytes");
        }
        BigInteger unscaled = new BigInteger(digits);
        if (from == scale && precision <= 18 && unscaled.abs().compareTo(LONGEST) < 0) {
            long value = unscaled.longValue();
            if (Math.abs(value) < Math.pow(10, precision)) {
                return Decimal.createUnsafe(value, precision, scale);
            }
        }
        BigDecimal value = new BigDecimal(unscaled, from);
        try {
            value = value.setScale(scale);
        } catch (ArithmeticException error) {
            throw new MalformedRecordException("a decimal has more than " + scale + " digits behind the point");
        }
        if (value.precision() > precision) {
            throw new MalformedRecordException("a decimal has more than " + precision + " digits");
        }
        return Decimal.apply(value, precision, scale);
    }
}
