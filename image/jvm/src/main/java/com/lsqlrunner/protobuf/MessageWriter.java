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

/** Writes structs as messages. Fields are matched by name, and no field is dropped silently. Threads may share it. */
final class MessageWriter {
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int NANOS_PER_MICRO = 1_000;

    private final FieldWriter[] writers;
    private final int width;

    /**
     * @throws SchemaMismatchException the message does not have a field of the struct, or the field cannot hold all
     *     values of the type
     */
    MessageWriter(StructType type, List<FieldSpec> fields, String path) {
        List<String> names = Arrays.asList(type.fieldNames());
        for (String name : names) {
            if (fields.stream().noneMatch(field -> field.name().equals(name))) {
                throw new SchemaMismatchException("the schema has no such field: " + childPath(path, name));
            }
        }
        for (FieldSpec field : fields) {
            if (field.presence().equals("required") && !names.contains(field.name())) {
                throw new SchemaMismatchException("a required field has no value: " + childPath(path, field.name()));
            }
        }
        width = names.size();
        writers = fields.stream()
                .filter(field -> names.contains(field.name()))
                .map(field -> writer(type, names.indexOf(field.name()), field, path))
                .toArray(FieldWriter[]::new);
    }

    void write(InternalRow row, ProtobufOutput to) {
        for (FieldWriter writer : writers) {
            writer.write(row, to);
        }
    }

    private static FieldWriter writer(StructType type, int index, FieldSpec field, String path) {
        DataType fieldType = type.apply(index).dataType();
        String childPath = childPath(path, field.name());
        if (field.isRepeated()) {
            return items(
                    fieldType instanceof ArrayType array ? array.elementType() : mismatch(fieldType, field, childPath),
                    index,
                    field,
                    childPath);
        }
        if (field.isMap()) {
            boolean fits = fieldType instanceof MapType map && map.keyType() instanceof StringType;
            return entries(
                    fits ? ((MapType) fieldType).valueType() : mismatch(fieldType, field, childPath),
                    index,
                    field,
                    childPath);
        }
        ValueWriter value = value(fieldType, field, childPath);
        boolean isOptional = field.presence().equals("optional");
        ZeroCheck zeroCheck = zeroCheck(fieldType);
        boolean zeroIsWritten =
                !field.presence().equals("implicit") || field.kind().equals("enum");
        return (from, to) -> {
            if (!from.isNullAt(index)) {
                if (zeroIsWritten || !zeroCheck.isZero(from, index)) {
                    to.writeTag(field.number(), field.wire());
                    value.write(from, index, to);
                }
            } else if (!isOptional) {
                throw SchemaMismatchException.ofValue(childPath, "a value is null, and the schema does not allow it");
            }
        };
    }

    private static FieldWriter items(DataType type, int index, FieldSpec field, String path) {
        ValueWriter value = value(type, field, path + "[]");
        boolean packed = field.wire() != WireType.LENGTH;
        return (from, to) -> {
            ArrayData items = from.isNullAt(index) ? null : from.getArray(index);
            int count = items == null ? 0 : items.numElements();
            if (count == 0) {
                return;
            }
            int start = 0;
            if (packed) {
                to.writeTag(field.number(), WireType.LENGTH);
                start = to.begin();
            }
            for (int i = 0; i < count; i++) {
                checkPresent(items, i, path + "[]");
                if (!packed) {
                    to.writeTag(field.number(), WireType.LENGTH);
                }
                value.write(items, i, to);
            }
            if (packed) {
                to.end(start);
            }
        };
    }

    private static FieldWriter entries(DataType type, int index, FieldSpec field, String path) {
        ValueWriter value = value(type, field, path + "{}");
        ValueWriter key = ScalarFieldWriters.ofKey(field.key(), path);
        return (from, to) -> {
            MapData map = from.isNullAt(index) ? null : from.getMap(index);
            int count = map == null ? 0 : map.numElements();
            for (int i = 0; i < count; i++) {
                checkPresent(map.valueArray(), i, path + "{}");
                to.writeTag(field.number(), WireType.LENGTH);
                int start = to.begin();
                to.writeTag(1, FieldSpec.wire(field.key()));
                key.write(map.keyArray(), i, to);
                to.writeTag(2, field.wire());
                value.write(map.valueArray(), i, to);
                to.end(start);
            }
        };
    }

    private static void checkPresent(ArrayData items, int index, String path) {
        if (items.isNullAt(index)) {
            throw SchemaMismatchException.ofValue(path, "an element is null, which Protobuf does not allow");
        }
    }

    private static ValueWriter value(DataType type, FieldSpec field, String path) {
        switch (field.kind()) {
            case "message" -> {
                StructType struct =
                        type instanceof StructType structType ? structType : (StructType) mismatch(type, field, path);
                MessageWriter inner = new MessageWriter(struct, field.fields(), path);
                return (from, index, to) -> {
                    int start = to.begin();
                    inner.write(from.getStruct(index, inner.width), to);
                    to.end(start);
                };
            }
            case "timestamp" -> {
                if (!(type instanceof TimestampType)) {
                    mismatch(type, field, path);
                }
                return (from, index, to) -> writeTime(from.getLong(index), to);
            }
            case "wrapper" -> {
                FieldSpec only = field.fields().get(0);
                ValueWriter inner = value(type, only, path);
                ZeroCheck zeroCheck = zeroCheck(type);
                return (from, index, to) -> {
                    int start = to.begin();
                    if (!zeroCheck.isZero(from, index)) {
                        to.writeTag(only.number(), only.wire());
                        inner.write(from, index, to);
                    }
                    to.end(start);
                };
            }
            default -> {
                return ScalarFieldWriters.of(type, field, path);
            }
        }
    }

    private static void writeTime(long micros, ProtobufOutput to) {
        long seconds = Math.floorDiv(micros, MICROS_PER_SECOND);
        long nanos = Math.floorMod(micros, MICROS_PER_SECOND) * NANOS_PER_MICRO;
        int start = to.begin();
        if (seconds != 0) {
            to.writeTag(1, WireType.VARINT);
            to.writeVarint(seconds);
        }
        if (nanos != 0) {
            to.writeTag(2, WireType.VARINT);
            to.writeVarint(nanos);
        }
        to.end(start);
    }

    /** Whether a value is the default that readers assume for a missing field. */
    private static ZeroCheck zeroCheck(DataType type) {
        return switch (type.typeName()) {
            case "double" -> (from, index) -> Double.doubleToRawLongBits(from.getDouble(index)) == 0;
            case "float" -> (from, index) -> Float.floatToRawIntBits(from.getFloat(index)) == 0;
            case "boolean" -> (from, index) -> !from.getBoolean(index);
            case "string" -> (from, index) -> from.getUTF8String(index).numBytes() == 0;
            case "binary" -> (from, index) -> from.getBinary(index).length == 0;
            case "integer" -> (from, index) -> from.getInt(index) == 0;
            case "long" -> (from, index) -> from.getLong(index) == 0;
            default -> (from, index) -> false;
        };
    }

    static DataType mismatch(DataType type, FieldSpec field, String path) {
        String kind = field.presence().equals("repeated") || field.isMap()
                ? field.presence() + " " + field.kind()
                : field.kind();
        throw new SchemaMismatchException(
                "%s does not fit Protobuf's %s: field %s".formatted(type.simpleString(), kind, path));
    }

    private static String childPath(String path, String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    @FunctionalInterface
    private interface FieldWriter {
        void write(InternalRow from, ProtobufOutput to);
    }

    @FunctionalInterface
    private interface ZeroCheck {
        boolean isZero(SpecializedGetters from, int index);
    }

    /** Writes the value at an index of a row or an array, without a tag. */
    @FunctionalInterface
    interface ValueWriter {
        void write(SpecializedGetters from, int index, ProtobufOutput to);
    }
}
