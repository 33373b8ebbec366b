package com.lsqlrunner.avro;

import com.lsqlrunner.bytes.RecordBudget;
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
 * Creates readers of scalar values. If both schemas have a unit or a scale, the value is converted. Avro's resolution
 * keeps the number unchanged, and would read seconds as milliseconds.
 */
final class ScalarReaders {
    /** Spark stores a decimal of up to 18 digits as a long. */
    private static final BigInteger MAX_COMPACT = BigInteger.TEN.pow(18);

    /** More bits than a number of {@link RecordBudget#MAX_DIGITS} digits has. */
    private static final int MAX_BITS = 4 * RecordBudget.MAX_DIGITS;

    private ScalarReaders() {}

    /**
     * A reader of a value that has the same type in both schemas, or a type that can be promoted to the reader's type.
     */
    static ValueReader of(Schema writer, Schema reader) {
        return switch (reader.getType()) {
            case NULL -> in -> null;
            case BOOLEAN -> PlainReader.BOOLEAN;
            case INT -> LogicalTimeUnit.of(reader) == null ? PlainReader.INT : numbers(writer, reader);
            case LONG -> numbers(writer, reader);
            case FLOAT -> floats(writer);
            case DOUBLE -> doubles(writer);
            case STRING -> PlainReader.STRING;
            case BYTES -> bytes(writer, reader, AvroInput::readBytes);
            case FIXED -> fixed(writer, reader);
            default -> throw new IllegalArgumentException(reader.getType().toString());
        };
    }

    /** A reader of numbers as longs; times are converted to Spark's unit. */
    private static ValueReader numbers(Schema writer, Schema reader) {
        LogicalTimeUnit to = LogicalTimeUnit.of(reader);
        LogicalTimeUnit from = LogicalTimeUnit.of(writer);
        if (to == null || from == null || from.kind != to.kind) {
            from = to;
        }
        long fromNanos = to == null ? 1 : from.nanos;
        long toNanos = to == null ? 1 : to.kind.sparkNanos;
        boolean isInt = writer.getType() == Schema.Type.INT;
        if (to != null && to.kind == LogicalTimeUnit.Kind.TIME) {
            return in -> timeOfDay(isInt ? in.readInt() : in.readLong(), fromNanos);
        }
        if (fromNanos == toNanos) {
            return isInt ? in -> (long) in.readInt() : PlainReader.LONG;
        }
        if (fromNanos < toNanos) {
            return in -> Math.floorDiv(in.readLong(), toNanos / fromNanos);
        }
        return in -> multiplied(in.readLong(), fromNanos / toNanos);
    }

    private static Long timeOfDay(long number, long nanos) {
        if (number < 0 || number >= LogicalTimeUnit.NANOS_PER_DAY / nanos) {
            throw new MalformedRecordException("a time is not within a day");
        }
        return number * nanos;
    }

    private static Long multiplied(long value, long factor) {
        try {
            return Math.multiplyExact(value, factor);
        } catch (ArithmeticException error) {
            throw new MalformedRecordException("a timestamp is out of range");
        }
    }

    private static ValueReader floats(Schema writer) {
        return switch (writer.getType()) {
            case INT -> in -> (float) in.readInt();
            case LONG -> in -> (float) in.readLong();
            default -> PlainReader.FLOAT;
        };
    }

    private static ValueReader doubles(Schema writer) {
        return switch (writer.getType()) {
            case INT -> in -> (double) in.readInt();
            case LONG -> in -> (double) in.readLong();
            case FLOAT -> in -> (double) in.readFloat();
            default -> PlainReader.DOUBLE;
        };
    }

    private static ValueReader fixed(Schema writer, Schema reader) {
        int size = writer.getFixedSize();
        if (CatalystTypes.logicalType(reader).equals("uuid")) {
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
        if (unscaled.bitLength() > MAX_BITS) { // counting the digits would take seconds
            throw new MalformedRecordException("a decimal has more than " + precision + " digits");
        }
        if (from == scale && precision <= 18 && unscaled.abs().compareTo(MAX_COMPACT) < 0) {
            long value = unscaled.longValue();
            if (Math.abs(value) < Math.pow(10, precision)) {
                return Decimal.createUnsafe(value, precision, scale);
            }
        }
        BigDecimal value = new BigDecimal(unscaled, from);
        try {
            value = value.setScale(scale);
        } catch (ArithmeticException error) {
            throw new MalformedRecordException("a decimal has more than " + scale + " digits after the decimal point");
        }
        if (value.precision() > precision) {
            throw new MalformedRecordException("a decimal has more than " + precision + " digits");
        }
        return Decimal.apply(value, precision, scale);
    }
}
