package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.errors.ShownValue;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;

/** Creates writers of scalar values that are not null. */
final class ScalarWriters {
    private ScalarWriters() {}

    /** A writer of values of a type; null if the schema cannot hold them. */
    static ValueWriter of(DataType type, Schema schema, String path) {
        String logical = CatalystTypes.logicalType(schema);
        return switch (schema.getType()) {
            case NULL -> (from, index, to) -> {};
            case BOOLEAN ->
                type.equals(DataTypes.BooleanType)
                        ? (from, index, to) -> to.writeBoolean(from.getBoolean(index))
                        : null;
            case INT -> logical.equals("time-millis") ? longs(type, schema, path) : ints(type, logical);
            case LONG -> longs(type, schema, path);
            case FLOAT -> type.equals(DataTypes.FloatType) ? floats() : null;
            case DOUBLE -> doubles(type);
            case STRING ->
                type.equals(DataTypes.StringType)
                        ? (from, index, to) ->
                                to.writeBytes(from.getUTF8String(index).getBytes())
                        : null;
            case ENUM -> type.equals(DataTypes.StringType) ? symbols(schema, path) : null;
            case BYTES -> bytes(type, schema, path);
            case FIXED -> fixed(type, schema, path);
            default -> null;
        };
    }

    private static ValueWriter ints(DataType type, String logical) {
        return type.equals(logical.equals("date") ? DataTypes.DateType : DataTypes.IntegerType) ? ints() : null;
    }

    private static ValueWriter ints() {
        return (from, index, to) -> to.writeLong(from.getInt(index));
    }

    private static ValueWriter floats() {
        return (from, index, to) -> to.writeFloat(from.getFloat(index));
    }

    private static ValueWriter doubles(DataType type) {
        if (type.equals(DataTypes.FloatType)) {
            return (from, index, to) -> to.writeDouble(from.getFloat(index));
        }
        return type.equals(DataTypes.DoubleType) ? (from, index, to) -> to.writeDouble(from.getDouble(index)) : null;
    }

    private static ValueWriter longs(DataType type, Schema schema, String path) {
        LogicalTimeUnit unit = LogicalTimeUnit.of(schema);
        if (unit == null) {
            if (type.equals(DataTypes.IntegerType)) {
                return ints();
            }
            return type.equals(DataTypes.LongType) ? (from, index, to) -> to.writeLong(from.getLong(index)) : null;
        }
        if (!type.equals(unit.kind.sparkType)) {
            return null;
        }
        if (unit.nanos >= unit.kind.sparkNanos) {
            long length = unit.nanos / unit.kind.sparkNanos;
            return (from, index, to) -> to.writeLong(Math.floorDiv(from.getLong(index), length));
        }
        return (from, index, to) -> {
            try {
                to.writeLong(Math.multiplyExact(from.getLong(index), unit.kind.sparkNanos));
            } catch (ArithmeticException error) {
                throw SchemaMismatchException.ofValue(path, "a timestamp is out of range for nanoseconds");
            }
        };
    }

    private static ValueWriter symbols(Schema schema, String path) {
        Map<UTF8String, Integer> indexes = new HashMap<>();
        for (String symbol : schema.getEnumSymbols()) {
            indexes.put(UTF8String.fromString(symbol), indexes.size());
        }
        return (from, index, to) -> {
            Integer symbol = indexes.get(from.getUTF8String(index));
            if (symbol == null) {
                String missing = ShownValue.choose(
                        "has no symbol " + from.getUTF8String(index),
                        "has no such symbol: " + ShownValue.ofText(from.getUTF8String(index)));
                throw SchemaMismatchException.ofValue(path, "the enum %s %s".formatted(schema.getName(), missing));
            }
            to.writeLong(symbol);
        };
    }

    private static ValueWriter bytes(DataType type, Schema schema, String path) {
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            return fits(type, decimal)
                    ? (from, index, to) -> to.writeBytes(unscaled(from, index, (DecimalType) type, decimal, path)
                            .toByteArray())
                    : null;
        }
        return type instanceof BinaryType ? (from, index, to) -> to.writeBytes(from.getBinary(index)) : null;
    }

    private static ValueWriter fixed(DataType type, Schema schema, String path) {
        int size = schema.getFixedSize();
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            return fits(type, decimal)
                    ? (from, index, to) ->
                            to.writeFixed(padded(unscaled(from, index, (DecimalType) type, decimal, path), size))
                    : null;
        }
        if (CatalystTypes.logicalType(schema).equals("uuid")) {
            return type.equals(DataTypes.StringType)
                    ? (from, index, to) ->
                            to.writeFixed(uuid(from.getUTF8String(index).toString(), path))
                    : null;
        }
        return type instanceof BinaryType
                ? (from, index, to) -> to.writeFixed(ofSize(from.getBinary(index), size, path))
                : null;
    }

    private static boolean fits(DataType type, LogicalTypes.Decimal schema) {
        return type instanceof DecimalType ownType
                && ownType.scale() <= schema.getScale()
                && ownType.precision() - ownType.scale() <= schema.getPrecision() - schema.getScale();
    }

    private static BigInteger unscaled(
            SpecializedGetters from, int index, DecimalType type, LogicalTypes.Decimal schema, String path) {
        BigDecimal value =
                from.getDecimal(index, type.precision(), type.scale()).toJavaBigDecimal();
        if (value.precision() - value.scale() > schema.getPrecision() - schema.getScale()) {
            throw SchemaMismatchException.ofValue(
                    path, "a decimal has too many digits"); // Spark does not enforce the precision of a decimal type
        }
        return value.setScale(schema.getScale()).unscaledValue();
    }

    private static byte[] padded(BigInteger value, int size) {
        byte[] digits = value.toByteArray();
        byte[] all = new byte[size];
        Arrays.fill(all, (byte) (value.signum() < 0 ? -1 : 0));
        System.arraycopy(digits, 0, all, size - digits.length, digits.length);
        return all;
    }

    private static byte[] uuid(String text, String path) {
        try {
            UUID uuid = UUID.fromString(text);
            if (uuid.toString().equalsIgnoreCase(text)) {
                return ByteBuffer.allocate(16)
                        .putLong(uuid.getMostSignificantBits())
                        .putLong(uuid.getLeastSignificantBits())
                        .array();
            }
        } catch (IllegalArgumentException error) {
            // Reported below, like the other texts that only Java's lenient parser accepts.
        }
        throw SchemaMismatchException.ofValue(
                path, ShownValue.choose(text, ShownValue.ofText(text)) + " is not a UUID");
    }

    private static byte[] ofSize(byte[] value, int size, String path) {
        if (value.length != size) {
            throw SchemaMismatchException.ofValue(
                    path, "%d bytes instead of the %d of the schema".formatted(value.length, size));
        }
        return value;
    }
}
