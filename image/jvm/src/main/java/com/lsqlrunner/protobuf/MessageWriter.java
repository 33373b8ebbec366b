package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.SchemaMismatchException;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;

/** Structs as messages: fields by their names, nothing dropped in silence. Threads may share it. */
final class MessageWriter {
    private static final long MICROS = 1_000_000;
    private static final int NANOS_PER_MICRO = 1_000;

    private final FieldWriter[] writers;
    private final int width;

    /** @throws SchemaMismatchException the message has no such field, or one that cannot hold all of its type */
    MessageWriter(StructType type, List<FieldSpec> fields, String path) {
        List<String> names = Arrays.asList(type.fieldNames());
        for (String name : names) {
            if (fields.stream().noneMatch(field -> field.name().equals(name))) {
                throw new SchemaMismatchException("the schema has no such field: " + below(path, name));
            }
        }
        width = names.size();
        writers = fields.stream()
                .filter(field -> names.contains(field.name()) || missing(field, path))
                .map(field -> writer(type, names.indexOf(field.name()), field, path))
                .toArray(FieldWriter[]::new);
    }

    private static boolean missing(FieldSpec field, String path) {
        if (field.presence().equals("required")) {
            throw new SchemaMismatchException(
                    "there is no value for a field that is required: " + below(path, field.name()));
        }
        return false;
    }

    void write(InternalRow row, ProtobufBuffer to) {
        for (FieldWriter writer : writers) {
            writer.write(row, to);
        }
    }

    private static FieldWriter writer(StructType type, int place, FieldSpec field, String path) {
        DataType whole = type.apply(place).dataType();
        String below = below(path, field.name());
        if (field.isRepeated()) {
            return items(
                    whole instanceof ArrayType array ? array.elementType() : misfit(whole, field, below),
                    place,
                    field,
                    below);
        }
        if (field.isMap()) {
            boolean fits = whole instanceof MapType map && map.keyType() instanceof StringType;
            return entries(fits ? ((MapType) whole).valueType() : misfit(whole, field, below), place, field, below);
        }
        ValueWriter value = value(whole, field, below);
        boolean isOptional = field.presence().equals("optional");
        Zero zero = zero(whole);
        boolean zeroIsWritten =
                !field.presence().equals("implicit") || field.kind().equals("enum");
        return (from, to) -> {
            if (!from.isNullAt(place)) {
                if (zeroIsWritten || !zero.is(from, place)) {
                    to.writeTag(field.number(), field.wire());
                    value.write(from, place, to);
                }
            } else if (!isOptional) {
                throw SchemaMismatchException.ofValue(below, "a value is null, and the schema does not allow it");
            }
        };
    }

    private static FieldWriter items(DataType type, int place, FieldSpec field, String path) {
        ValueWriter value = value(type, field, path + "[]");
        boolean packed = field.wire() != Wire.LENGTH;
        return (from, to) -> {
            ArrayData items = from.isNullAt(place) ? null : from.getArray(place);
            int count = items == null ? 0 : items.numElements();
            if (count == 0) {
                return;
            }
            int begun = 0;
            if (packed) {
                to.writeTag(field.number(), Wire.LENGTH);
                begun = to.begin();
            }
            for (int i = 0; i < count; i++) {
                checkPresent(items, i, path + "[]");
                if (!packed) {
                    to.writeTag(field.number(), Wire.LENGTH);
                }
                value.write(items, i, to);
            }
            if (packed) {
                to.end(begun);
            }
        };
    }

    private static FieldWriter entries(DataType type, int place, FieldSpec field, String path) {
        ValueWriter value = value(type, field, path + "{}");
        ValueWriter key = ScalarWriters.ofKey(field.key(), path);
        return (from, to) -> {
            MapData map = from.isNullAt(place) ? null : from.getMap(place);
            int count = map == null ? 0 : map.numElements();
            for (int i = 0; i < count; i++) {
                checkPresent(map.valueArray(), i, path + "{}");
                to.writeTag(field.number(), Wire.LENGTH);
                int begun = to.begin();
                to.writeTag(1, FieldSpec.wire(field.key()));
                key.write(map.keyArray(), i, to);
                to.writeTag(2, field.wire());
                value.write(map.valueArray(), i, to);
                to.end(begun);
            }
        };
    }

    private static void checkPresent(ArrayData items, int place, String path) {
        if (items.isNullAt(place)) {
            throw SchemaMismatchException.ofValue(path, "an element is null, which Protobuf does not have");
        }
    }

    private static ValueWriter value(DataType type, FieldSpec field, String path) {
        switch (field.kind()) {
            case "message" -> {
                StructType struct = type instanceof StructType one ? one : (StructType) misfit(type, field, path);
                MessageWriter inner = new MessageWriter(struct, field.fields(), path);
                return (from, place, to) -> {
                    int begun = to.begin();
                    inner.write(from.getStruct(place, inner.width), to);
                    to.end(begun);
                };
            }
            case "timestamp" -> {
                if (!(type instanceof TimestampType)) {
                    misfit(type, field, path);
                }
                return (from, place, to) -> writeTime(from.getLong(place), to);
            }
            case "wrapper" -> {
                FieldSpec only = field.fields().get(0);
                ValueWriter inner = value(type, only, path);
                Zero zero = zero(type);
                return (from, place, to) -> {
                    int begun = to.begin();
                    if (!zero.is(from, place)) {
                        to.writeTag(only.number(), only.wire());
                        inner.write(from, place, to);
                    }
                    to.end(begun);
                };
            }
            default -> {
                return ScalarWriters.of(type, field, path);
            }
        }
    }

    private static void writeTime(long micros, ProtobufBuffer to) {
        long seconds = Math.floorDiv(micros, MICROS);
        long nanos = Math.floorMod(micros, MICROS) * NANOS_PER_MICRO;
        int begun = to.begin();
        if (seconds != 0) {
            to.writeTag(1, Wire.VARINT);
            to.writeVarint(seconds);
        }
        if (nanos != 0) {
            to.writeTag(2, Wire.VARINT);
            to.writeVarint(nanos);
        }
        to.end(begun);
    }

    /** Whether a value is what a reader takes for one that is not there. */
    private static Zero zero(DataType type) {
        return switch (type.typeName()) {
            case "double" -> (from, place) -> Double.doubleToRawLongBits(from.getDouble(place)) == 0;
            case "float" -> (from, place) -> Float.floatToRawIntBits(from.getFloat(place)) == 0;
            case "boolean" -> (from, place) -> !from.getBoolean(place);
            case "string" -> (from, place) -> from.getUTF8String(place).numBytes() == 0;
            case "binary" -> (from, place) -> from.getBinary(place).length == 0;
            case "integer" -> (from, place) -> from.getInt(place) == 0;
            case "long" -> (from, place) -> from.getLong(place) == 0;
            default -> (from, place) -> false;
        };
    }

    static DataType misfit(DataType type, FieldSpec field, String path) {
        String kind = field.presence().equals("repeated") || field.isMap()
                ? field.presence() + " " + field.kind()
                : field.kind();
        throw new SchemaMismatchException(
                "%s does not fit Protobuf's %s: field %s".formatted(type.simpleString(), kind, path));
    }

    private static String below(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    @FunctionalInterface
    private interface FieldWriter {
        void write(InternalRow from, ProtobufBuffer to);
    }

    @FunctionalInterface
    private interface Zero {
        boolean is(SpecializedGetters from, int place);
    }

    /** Writes the value at a place of a row or an array, without a tag. */
    @FunctionalInterface
    interface ValueWriter {
        void write(SpecializedGetters from, int place, ProtobufBuffer to);
    }
}
