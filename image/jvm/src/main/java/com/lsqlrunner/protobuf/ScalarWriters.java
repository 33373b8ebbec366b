package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.SchemaMismatchException;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;

/** Writers of single values, by the kind that a field is of. */
final class ScalarWriters {
    private static final int UNSIGNED_BITS = 64;

    private ScalarWriters() {}

    /** @throws SchemaMismatchException the field cannot hold values of the type */
    static MessageWriter.ValueWriter of(DataType type, FieldSpec field, String path) {
        MessageWriter.ValueWriter writer = null;
        if (type instanceof IntegerType) {
            writer = whole(field.kind(), false, path);
        } else if (type instanceof LongType) {
            writer = whole(field.kind(), true, path);
        } else if (type instanceof DecimalType decimal && decimal.scale() == 0) {
            writer = unsigned(field.kind(), decimal, path);
        } else if (type instanceof DoubleType && field.kind().equals("double")) {
            writer = (from, place, to) -> to.writeFixed64(Double.doubleToRawLongBits(from.getDouble(place)));
        } else if (type instanceof FloatType && field.kind().equals("float")) {
            writer = (from, place, to) -> to.writeFixed32(Float.floatToRawIntBits(from.getFloat(place)));
        } else if (type instanceof BooleanType && field.kind().equals("bool")) {
            writer = (from, place, to) -> to.writeVarint(from.getBoolean(place) ? 1 : 0);
        } else if (type instanceof BinaryType && field.kind().equals("bytes")) {
            writer = (from, place, to) -> to.writeBytes(from.getBinary(place));
        } else if (type instanceof StringType && field.kind().equals("string")) {
            writer =
                    (from, place, to) -> to.writeBytes(from.getUTF8String(place).getBytes());
        } else if (type instanceof StringType && field.kind().equals("enum")) {
            writer = symbol(field, path);
        }
        if (writer == null) {
            MessageWriter.misfit(type, field, path);
        }
        return writer;
    }

    /** A map's key, which is text here. */
    static MessageWriter.ValueWriter ofKey(String kind, String path) {
        if (kind.equals("string")) {
            return (from, place, to) -> to.writeBytes(from.getUTF8String(place).getBytes());
        }
        return (from, place, to) -> {
            String text = from.getUTF8String(place).toString();
            try {
                writeWhole(kind, keyBits(kind, text), to);
            } catch (ArithmeticException | NumberFormatException error) {
                throw SchemaMismatchException.ofValue(
                        path, "a key is %s, and the schema wants %s".formatted(text, kind));
            }
        };
    }

    private static long keyBits(String kind, String text) {
        return switch (kind) {
            case "bool" ->
                switch (text) {
                    case "true" -> 1;
                    case "false" -> 0;
                    default -> throw new NumberFormatException(text);
                };
            case "uint64", "fixed64" -> Long.parseUnsignedLong(text);
            case "uint32", "fixed32" -> Integer.toUnsignedLong(Integer.parseUnsignedInt(text));
            case "int64", "sint64", "sfixed64" -> Long.parseLong(text);
            default -> Integer.parseInt(text);
        };
    }

    private static MessageWriter.ValueWriter whole(String kind, boolean isLong, String path) {
        return switch (kind) {
            case "int64", "sint64", "sfixed64" ->
                isLong
                        ? (from, place, to) -> writeWhole(kind, from.getLong(place), to)
                        : (from, place, to) -> writeWhole(kind, from.getInt(place), to);
            case "int32", "sint32", "sfixed32" ->
                isLong ? null : (from, place, to) -> writeWhole(kind, from.getInt(place), to);
            case "uint32", "fixed32" ->
                isLong ? (from, place, to) -> writeWhole(kind, small(from.getLong(place), path), to) : null;
            default -> null;
        };
    }

    private static long small(long value, String path) {
        if (value != (value & 0xFFFFFFFFL)) {
            throw SchemaMismatchException.ofValue(path, "%d is no number of 32 bits without a sign".formatted(value));
        }
        return value;
    }

    private static MessageWriter.ValueWriter unsigned(String kind, DecimalType type, String path) {
        if (!kind.equals("uint64") && !kind.equals("fixed64")) {
            return null;
        }
        return (from, place, to) -> {
            BigInteger value = from.getDecimal(place, type.precision(), 0)
                    .toJavaBigDecimal()
                    .toBigInteger();
            if (value.signum() < 0 || value.bitLength() > UNSIGNED_BITS) {
                throw SchemaMismatchException.ofValue(path, value + " is no number of 64 bits without a sign");
            }
            writeWhole(kind, value.longValue(), to);
        };
    }

    private static void writeWhole(String kind, long value, ProtobufBuffer to) {
        switch (FieldSpec.wire(kind)) {
            case Wire.FIXED64 -> to.writeFixed64(value);
            case Wire.FIXED32 -> to.writeFixed32((int) value);
            default -> to.writeVarint(kind.startsWith("s") ? ProtobufBuffer.zigzag(value) : value);
        }
    }

    private static MessageWriter.ValueWriter symbol(FieldSpec field, String path) {
        Map<String, Integer> numbers = new HashMap<>();
        field.symbols().forEach(symbol -> numbers.put(symbol.name(), symbol.number()));
        return (from, place, to) -> {
            String text = from.getUTF8String(place).toString();
            Integer number = numbers.get(text);
            try {
                to.writeVarint(number == null ? Integer.parseInt(text) : number);
            } catch (NumberFormatException error) {
                throw SchemaMismatchException.ofValue(path, "%s is none of %s".formatted(text, numbers.keySet()));
            }
        };
    }
}
