package com.lsqlrunner.json;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Writes structs with scalar fields as JSON objects: the same bytes as Spark's generator, without characters between.
 */
final class JsonObjectWriter {
    private static final byte[] NULL = utf8("null");
    private static final byte[] TRUE = utf8("true");
    private static final byte[] FALSE = utf8("false");
    private static final int SMALLEST_BUFFER = 256;

    private interface FieldWriter {
        void write(Output out, SpecializedGetters row, int field);
    }

    /** A growing array of bytes. */
    private static final class Output {
        private byte[] bytes = new byte[SMALLEST_BUFFER];
        private int size;

        private void reserve(int count) {
            if (bytes.length - size < count) {
                bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(size, count)));
            }
        }

        private void write(byte[] text) {
            reserve(text.length);
            System.arraycopy(text, 0, bytes, size, text.length);
            size += text.length;
        }

        private void write(char character) {
            reserve(1);
            bytes[size++] = (byte) character;
        }
    }

    private final byte[][] names;
    private final FieldWriter[] fields;
    private final Output out = new Output();

    private JsonObjectWriter(StructType type) {
        names = new byte[type.length()][];
        fields = new FieldWriter[type.length()];
        for (int i = 0; i < names.length; i++) {
            StructField field = type.fields()[i];
            names[i] = utf8((i == 0 ? "{" : ",") + quoted(field.name()) + ":");
            fields[i] = fieldWriter(field.dataType());
        }
    }

    /** A writer of a struct; null if one of its fields has a type that only Spark's generator writes. */
    static JsonObjectWriter of(StructType type) {
        return canWrite(type) ? new JsonObjectWriter(type) : null;
    }

    private static boolean canWrite(StructType type) {
        return type.length() > 0
                && Arrays.stream(type.fields())
                        .map(StructField::dataType)
                        .allMatch(field ->
                                field instanceof StructType struct ? canWrite(struct) : fieldWriter(field) != null);
    }

    private static FieldWriter fieldWriter(DataType type) {
        if (type instanceof StructType struct) {
            JsonObjectWriter nested = new JsonObjectWriter(struct);
            return (out, row, field) -> nested.writeTo(out, row.getStruct(field, nested.names.length));
        }
        if (DataTypes.StringType.equals(type)) {
            return (out, row, field) -> writeString(out, row.getUTF8String(field));
        }
        if (DataTypes.LongType.equals(type)) {
            return (out, row, field) -> out.write(utf8(Long.toString(row.getLong(field))));
        }
        if (DataTypes.IntegerType.equals(type)) {
            return (out, row, field) -> out.write(utf8(Integer.toString(row.getInt(field))));
        }
        if (DataTypes.DoubleType.equals(type)) {
            return (out, row, field) -> writeDouble(out, row.getDouble(field));
        }
        if (DataTypes.BooleanType.equals(type)) {
            return (out, row, field) -> out.write(row.getBoolean(field) ? TRUE : FALSE);
        }
        return null;
    }

    /** The JSON object of a struct, in UTF-8, with all null fields. */
    byte[] write(SpecializedGetters row) {
        out.size = 0;
        writeTo(out, row);
        return Arrays.copyOf(out.bytes, out.size);
    }

    private void writeTo(Output to, SpecializedGetters row) {
        for (int i = 0; i < fields.length; i++) {
            to.write(names[i]);
            if (row.isNullAt(i)) {
                to.write(NULL);
            } else {
                fields[i].write(to, row, i);
            }
        }
        to.write('}');
    }

    private static void writeDouble(Output to, double value) {
        boolean isNumber = Double.isFinite(value);
        to.write(utf8(isNumber ? Double.toString(value) : '"' + Double.toString(value) + '"'));
    }

    private static void writeString(Output to, UTF8String text) {
        int length = text.numBytes();
        to.reserve(length + 2);
        int start = to.size + 1;
        text.writeToMemory(to.bytes, Platform.BYTE_ARRAY_OFFSET + start);
        if (!isPlain(to.bytes, start, length, text)) {
            to.write(quoted(text.toString()).getBytes(StandardCharsets.UTF_8));
            return;
        }
        to.bytes[start - 1] = '"';
        to.bytes[start + length] = '"';
        to.size = start + length + 1;
    }

    /** Whether a text is valid UTF-8 that needs no escapes. */
    private static boolean isPlain(byte[] bytes, int start, int length, UTF8String text) {
        boolean isAscii = true;
        for (int i = start; i < start + length; i++) {
            byte next = bytes[i];
            if (next < ' ') {
                if (next >= 0) {
                    return false;
                }
                isAscii = false;
            } else if (next == '"' || next == '\\') {
                return false;
            }
        }
        return isAscii || text.isValid();
    }

    private static String quoted(String text) {
        return '"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
