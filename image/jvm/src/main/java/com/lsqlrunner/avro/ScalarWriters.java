package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
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

/** Writers of scalar values, which are not null. */
final class ScalarWriters {
    private ScalarWriters() {}

    /** A writer of values of a type; null if the schema does not hold these. */
    static ValueWriter of(DataType type, Schema schema, String path) {
        String logical = CatalystTypes.logical(schema);
        return switch (schema.getType()) {
            case NULL -> (from, place, to) -> {};
            case BOOLEAN ->
                type.equals(DataTypes.BooleanType) ? (from, at, to) -> to.writeBoolean(from.getBoolean(at)) : null;
            case INT ->
                type.equals(logical.equals("date") ? DataTypes.DateType : DataTypes.IntegerType) ? ints() : null;
            case LONG -> longs(type, schema, path);
            case FLOAT -> type.equals(DataTypes.FloatType) ? floats() : null;
            case DOUBLE -> doubles(type);
            case STRING ->
                type.equals(DataTypes.StringType) ? (from, at, to) -> to.writeString(from.getUTF8String(at)) : null;
            case ENUM -> type.equals(DataTypes.StringType) ? symbols(schema, path) : null;
            case BYTES -> bytes(type, schema, path);
            case FIXED -> fixed(type, schema, path);
            default -> null;
        };
    }

    private static ValueWriter ints() {
        return (from, place, to) -> to.writeLong(from.getInt(place));
    }

    private static ValueWriter floats() {
        return (from, place, to) -> to.writeFloat(from.getFloat(place));
    }

    private static ValueWriter doubles(DataType type) {
        if (type.equals(DataTypes.FloatType)) {
            return (from, place, to) -> to.writeDouble(from.getFloat(place));
        }
        return type.equals(DataTypes.DoubleType) ? (from, place, to) -> to.writeDouble(from.getDouble(place)) : null;
    }

    private static ValueWriter longs(DataType type, Schema schema, String path) {
        TimeUnit unit = TimeUnit.of(schema);
        if (unit == null || unit.kind == TimeUnit.Kind.TIME) {
            if (type.equals(DataTypes.IntegerType)) {
                return ints();
            }
            return type.equals(DataTypes.LongType) ? (from, place, to) -> to.writeLong(from.getLong(place)) : null;
        }
        if (!type.equals(unit.kind == TimeUnit.Kind.LOCAL ? DataTypes.TimestampNTZType : DataTypes.TimestampType)) {
            return null;
        }
        if (unit.nanos >= TimeUnit.MICROS) {
            long micros = unit.nanos / TimeUnit.MICROS;
            return (from, place, to) -> to.writeLong(Math.floorDiv(from.getLong(place), micros));
        }
        return (from, place, to) -> {
            try {
                to.writeLong(Math.multiplyExact(from.getLong(place), TimeUnit.MICROS));
            } catch (ArithmeticException error) {
                throw SchemaMismatchException.ofValue(path, "a timestamp is too far away to be counted in nanoseconds");
            }
        };
    }

    private static ValueWriter symbols(Schema schema, String path) {
        Map<UTF8String, Integer> places = new HashMap<>();
        for (String symbol : schema.getEnumSymbols()) {
            places.put(UTF8String.fromString(symbol), places.size());
        }
        return (from, place, to) -> {
            Integer symbol = places.get(from.getUTF8String(place));
            if (symbol == null) {
                throw SchemaMismatchException.ofValue(
                        path, "the enum %s has no symbol %s".formatted(schema.getName(), from.getUTF8String(place)));
            }
            to.writeLong(symbol);
        };
    }

    private static ValueWriter bytes(DataType type, Schema schema, String path) {
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            return fits(type, decimal)
                    ? (from, at, to) -> to.writeBytes(unscaled(from, at, (DecimalType) type, decimal, path)
                            .toByteArray())
                    : null;
        }
        return type instanceof BinaryType ? (from, at, to) -> to.writeBytes(from.getBinary(at)) : null;
    }

    private static ValueWriter fixed(DataType type, Schema schema, String path) {
        int size = schema.getFixedSize();
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            return fits(type, decimal)
                    ? (from, at, to) ->
                            to.writeFixed(padded(unscaled(from, at, (DecimalType) type, decimal, path), size))
                    : null;
        }
        if (CatalystTypes.logical(schema).equals("uuid")) {
            return type.equals(DataTypes.StringType)
                    ? (from, at, to) ->
                            to.writeFixed(uuid(from.getUTF8String(at).toString(), path))
                    : null;
        }
        return type instanceof BinaryType
                ? (from, at, to) -> to.writeFixed(ofSize(from.getBinary(at), size, path))
                : null;
    }

    private static boolean fits(DataType type, LogicalTypes.Decimal schema) {
        return type instanceof DecimalType own
                && own.scale() <= schema.getScale()
                && own.precision() - own.scale() <= schema.getPrecision() - schema.getScale();
    }

    private static BigInteger unscaled(
            SpecializedGetters from, int place, DecimalType type, LogicalTypes.Decimal schema, String path) {
        BigDecimal value =
                from.getDecimal(place, type.precision(), type.scale()).toJavaBigDecimal();
        if (value.precision() - value.scale() > schema.getPrecision() - schema.getScale()) {
            throw SchemaMismatchException.ofValue(
                    path, "a decimal has too many digits"); // Spark does not hold itself to its own type
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
            // said below, as of texts that Java's own reading is lenient with
        }
        throw SchemaMismatchException.ofValue(path, text + " is no UUID");
    }

    private static byte[] ofSize(byte[] value, int size, String path) {
        if (value.length != size) {
            throw SchemaMismatchException.ofValue(
                    path, "%d bytes are not the %d that the schema fixes".formatted(value.length, size));
        }
        return value;
    }
}
