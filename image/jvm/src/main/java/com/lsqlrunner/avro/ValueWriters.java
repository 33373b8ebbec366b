package com.lsqlrunner.avro;

import com.lsqlrunner.errors.SchemaMismatchException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;

/**
 * Creates writers of Catalyst values as values of an Avro schema. Fields are matched by name, and no field is dropped
 * silently.
 */
final class ValueWriters {
    private ValueWriters() {}

    /**
     * A writer of values of a type.
     *
     * @throws SchemaMismatchException the schema cannot hold all values of the type
     */
    static ValueWriter of(DataType type, Schema schema) {
        return of(type, schema, "");
    }

    private static ValueWriter of(DataType type, Schema schema, String path) {
        if (schema.getType() == Schema.Type.UNION) {
            return union(type, schema, path);
        }
        ValueWriter writer = nonNull(type, schema, path);
        if (schema.getType() == Schema.Type.NULL) {
            return writer;
        }
        return (from, index, to) -> {
            if (from.isNullAt(index)) {
                throw SchemaMismatchException.ofValue(path, "a value is null, and the schema does not allow it");
            }
            writer.write(from, index, to);
        };
    }

    /** A writer of values that are not null. */
    private static ValueWriter nonNull(DataType type, Schema schema, String path) {
        ValueWriter writer =
                switch (schema.getType()) {
                    case RECORD -> type instanceof StructType struct ? record(struct, schema, path) : null;
                    case ARRAY -> type instanceof ArrayType array ? array(array, schema, path) : null;
                    case MAP ->
                        type instanceof MapType map && map.keyType() instanceof StringType
                                ? map(map, schema, path)
                                : null;
                    case NULL -> type instanceof NullType ? ScalarWriters.of(type, schema, path) : null;
                    default -> ScalarWriters.of(type, schema, path);
                };
        if (writer == null) {
            throw new SchemaMismatchException("%s does not fit %s%s"
                    .formatted(type.simpleString(), name(schema), CatalystTypes.fieldSuffix(path)));
        }
        return writer;
    }

    private static String name(Schema schema) {
        String type = schema.getType().getName();
        return "Avro's "
                + (schema.getLogicalType() == null ? type : type + " (" + CatalystTypes.logicalType(schema) + ")");
    }

    private static ValueWriter record(StructType type, Schema schema, String path) {
        List<String> names = Arrays.asList(type.fieldNames());
        for (String name : names) {
            if (schema.getField(name) == null) {
                throw new SchemaMismatchException("the schema has no such field"
                        + CatalystTypes.fieldSuffix(CatalystTypes.childPath(path, name)));
            }
        }
        int width = names.size();
        List<Schema.Field> fields = schema.getFields();
        ValueWriter[] writers = new ValueWriter[fields.size()];
        int[] indexes = new int[writers.length];
        for (int i = 0; i < writers.length; i++) {
            Schema.Field field = fields.get(i);
            String below = CatalystTypes.childPath(path, field.name());
            indexes[i] = names.indexOf(field.name());
            writers[i] = indexes[i] < 0
                    ? constant(field, below)
                    : of(type.apply(indexes[i]).dataType(), field.schema(), below);
        }
        return (from, index, to) -> {
            InternalRow row = from.getStruct(index, width);
            for (int i = 0; i < writers.length; i++) {
                writers[i].write(row, indexes[i], to);
            }
        };
    }

    /** Writes the default of a field that the type does not have. */
    private static ValueWriter constant(Schema.Field field, String path) {
        if (!field.hasDefaultValue()) {
            throw new SchemaMismatchException(
                    "there is no value for a field that has no default" + CatalystTypes.fieldSuffix(path));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            GenericData plain = new GenericData();
            new GenericDatumWriter<>(field.schema(), plain).write(plain.getDefaultValue(field), encoder);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        byte[] value = bytes.toByteArray();
        return (from, index, to) -> to.writeFixed(value);
    }

    private static ValueWriter array(ArrayType type, Schema schema, String path) {
        ValueWriter item = of(type.elementType(), schema.getElementType(), path + "[]");
        return (from, index, to) -> {
            ArrayData items = from.getArray(index);
            int count = items.numElements();
            if (count > 0) {
                to.writeLong(count);
                for (int i = 0; i < count; i++) {
                    item.write(items, i, to);
                }
            }
            to.writeLong(0);
        };
    }

    private static ValueWriter map(MapType type, Schema schema, String path) {
        ValueWriter item = of(type.valueType(), schema.getValueType(), path + "{}");
        return (from, index, to) -> {
            MapData items = from.getMap(index);
            int count = items.numElements();
            if (count > 0) {
                to.writeLong(count);
                for (int i = 0; i < count; i++) {
                    to.writeBytes(items.keyArray().getUTF8String(i).getBytes());
                    item.write(items.valueArray(), i, to);
                }
            }
            to.writeLong(0);
        };
    }

    private static ValueWriter union(DataType type, Schema schema, String path) {
        List<Schema> branches = schema.getTypes();
        int nullBranch = branches.indexOf(Schema.create(Schema.Type.NULL));
        ValueWriter writer =
                isMembers(type, schema) ? members((StructType) type, schema, path) : branch(type, schema, path);
        return (from, index, to) -> {
            if (!from.isNullAt(index)) {
                writer.write(from, index, to);
            } else if (nullBranch >= 0) {
                to.writeLong(nullBranch);
            } else {
                throw SchemaMismatchException.ofValue(path, "a value is null, and the schema does not allow it");
            }
        };
    }

    /** Whether the type is a decoded union of several types: a struct with one field for each branch. */
    private static boolean isMembers(DataType type, Schema union) {
        return type instanceof StructType struct
                && CatalystTypes.nonNullBranches(union).size() > 1
                && CatalystTypes.of(union) instanceof StructType decoded
                && Arrays.equals(decoded.fieldNames(), struct.fieldNames());
    }

    private static ValueWriter members(StructType type, Schema union, String path) {
        List<Schema> nonNullBranches = CatalystTypes.nonNullBranches(union);
        List<ValueWriter> writers = new ArrayList<>();
        int[] branches = new int[nonNullBranches.size()];
        for (int i = 0; i < branches.length; i++) {
            branches[i] = union.getTypes().indexOf(nonNullBranches.get(i));
            writers.add(
                    of(type.apply(i).dataType(), nonNullBranches.get(i), CatalystTypes.childPath(path, "member" + i)));
        }
        return (from, index, to) -> {
            InternalRow row = from.getStruct(index, branches.length);
            for (int i = 0; i < branches.length; i++) {
                if (!row.isNullAt(i)) {
                    to.writeLong(branches[i]);
                    writers.get(i).write(row, i, to);
                    return;
                }
            }
            throw SchemaMismatchException.ofValue(path, "none of the members of a union has a value");
        };
    }

    /** A writer for the first branch that can hold the type. If no branch can, the error is about the last one. */
    private static ValueWriter branch(DataType type, Schema union, String path) {
        List<Schema> branches = union.getTypes();
        SchemaMismatchException last = null;
        for (int i = 0; i < branches.size(); i++) {
            if (branches.get(i).getType() == Schema.Type.NULL) {
                continue;
            }
            try {
                ValueWriter writer = nonNull(type, branches.get(i), path);
                int branch = i;
                return (from, index, to) -> {
                    to.writeLong(branch);
                    writer.write(from, index, to);
                };
            } catch (SchemaMismatchException error) {
                last = error;
            }
        }
        if (type instanceof NullType) {
            return (from, index, to) -> {};
        }
        throw last == null
                ? new SchemaMismatchException(
                        type.simpleString() + " does not fit a union without types" + CatalystTypes.fieldSuffix(path))
                : last;
    }
}
