package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.SchemaMismatchException;
import com.lsqlrunner.errors.ShownValue;
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

/** Creates writers of scalar values. */
final class ScalarFieldWriters {
    private static final int UNSIGNED_BITS = 64;

    private ScalarFieldWriters() {}

    /** @throws SchemaMismatchException the field cannot hold values of the type */
    static MessageWriter.ValueWriter of(DataType type, FieldSpec field, String path) {
        MessageWriter.ValueWriter writer = null;
        if (type instanceof IntegerType) {
            writer = whole(field.kind(), false, path);
        } else if (type instanceof LongType) {
            writer = whole(field.kind(), true, path);
        } else if (type instanceof DecimalType decimal && decimal.scale() == 0) {
            writer = unsigned64(field.kind(), decimal, path);
        } else if (type instanceof DoubleType && field.kind().equals("double")) {
            writer = (from, index, to) -> to.writeFixed64(Double.doubleToRawLongBits(from.getDouble(index)));
        } else if (type instanceof FloatType && field.kind().equals("float")) {
            writer = (from, index, to) -> to.writeFixed32(Float.floatToRawIntBits(from.getFloat(index)));
        } else if (type instanceof BooleanType && field.kind().equals("bool")) {
            writer = (from, index, to) -> to.writeVarint(from.getBoolean(index) ? 1 : 0);
        } else if (type instanceof BinaryType && field.kind().equals("bytes")) {
            writer = (from, index, to) -> to.writeBytes(from.getBinary(index));
        } else if (type instanceof StringType && field.kind().equals("string")) {
            writer =
                    (from, index, to) -> to.writeBytes(from.getUTF8String(index).getBytes());
        } else if (type instanceof StringType && field.kind().equals("enum")) {
            writer = symbol(field, path);
        }
        if (writer == null) {
            MessageWriter.mismatch(type, field, path);
        }
        return writer;
    }

    /** A writer of a map key, which is text in Spark. */
    static MessageWriter.ValueWriter ofKey(String kind, String path) {
        if (kind.equals("string")) {
            return (from, index, to) -> to.writeBytes(from.getUTF8String(index).getBytes());
        }
        return (from, index, to) -> {
            String text = from.getUTF8String(index).toString();
            try {
                writeWhole(kind, keyBits(kind, text), to);
            } catch (ArithmeticException | NumberFormatException error) {
                throw SchemaMismatchException.ofValue(
                        path, ShownValue.choose("the key " + text, "a key") + " is not of the type " + kind);
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
                        ? (from, index, to) -> writeWhole(kind, from.getLong(index), to)
                        : (from, index, to) -> writeWhole(kind, from.getInt(index), to);
            case "int32", "sint32", "sfixed32" ->
                isLong ? null : (from, index, to) -> writeWhole(kind, from.getInt(index), to);
            case "uint32", "fixed32" ->
                isLong ? (from, index, to) -> writeWhole(kind, unsigned32(from.getLong(index), path), to) : null;
            default -> null;
        };
    }

    private static long unsigned32(long value, String path) {
        if (value != (value & 0xFFFFFFFFL)) {
            throw SchemaMismatchException.ofValue(path, ShownValue.ofNumber(value) + " does not fit 32 unsigned bits");
        }
        return value;
    }

    private static MessageWriter.ValueWriter unsigned64(String kind, DecimalType type, String path) {
        if (!kind.equals("uint64") && !kind.equals("fixed64")) {
            return null;
        }
        return (from, index, to) -> {
            BigInteger value = from.getDecimal(index, type.precision(), 0)
                    .toJavaBigDecimal()
                    .toBigInteger();
            if (value.signum() < 0 || value.bitLength() > UNSIGNED_BITS) {
                throw SchemaMismatchException.ofValue(
                        path, ShownValue.ofNumber(value) + " does not fit 64 unsigned bits");
            }
            writeWhole(kind, value.longValue(), to);
        };
    }

    private static void writeWhole(String kind, long value, ProtobufOutput to) {
        switch (FieldSpec.wire(kind)) {
            case WireType.FIXED64 -> to.writeFixed64(value);
            case WireType.FIXED32 -> to.writeFixed32((int) value);
            default -> to.writeVarint(kind.startsWith("s") ? ProtobufOutput.zigzag(value) : value);
        }
    }

    private static MessageWriter.ValueWriter symbol(FieldSpec field, String path) {
        Map<String, Integer> numbers = new HashMap<>();
        field.symbols().forEach(symbol -> numbers.put(symbol.name(), symbol.number()));
        return (from, index, to) -> {
            String text = from.getUTF8String(index).toString();
            Integer number = numbers.get(text);
            try {
                to.writeVarint(number == null ? Integer.parseInt(text) : number);
            } catch (NumberFormatException error) {
                String shown = ShownValue.choose(text, ShownValue.ofText(text));
                throw SchemaMismatchException.ofValue(path, "%s is not one of %s".formatted(shown, numbers.keySet()));
            }
        };
    }
}
