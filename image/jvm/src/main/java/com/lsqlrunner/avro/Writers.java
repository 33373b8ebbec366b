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

/** Writers of Catalyst's values as a schema has them: fields by their names, nothing dropped in silence. */
final class Writers {
    private Writers() {}

    /**
     * A writer of values of a type.
     *
     * @throws SchemaMismatchException a schema of that kind cannot hold all of the type
     */
    static ValueWriter of(DataType type, Schema schema) {
        return of(type, schema, "");
    }

    private static ValueWriter of(DataType type, Schema schema, String path) {
        if (schema.getType() == Schema.Type.UNION) {
            return union(type, schema, path);
        }
        ValueWriter present = present(type, schema, path);
        if (schema.getType() == Schema.Type.NULL) {
            return present;
        }
        return (from, place, to) -> {
            if (from.isNullAt(place)) {
                throw SchemaMismatchException.ofValue(path, "a value is null, and the schema does not allow it");
            }
            present.write(from, place, to);
        };
    }

    private static ValueWriter present(DataType type, Schema schema, String path) {
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
            throw new SchemaMismatchException(
                    "%s does not fit %s%s".formatted(type.simpleString(), name(schema), CatalystTypes.at(path)));
        }
        return writer;
    }

    private static String name(Schema schema) {
        String type = schema.getType().getName();
        return "Avro's " + (schema.getLogicalType() == null ? type : type + " (" + CatalystTypes.logical(schema) + ")");
    }

    private static ValueWriter record(StructType type, Schema schema, String path) {
        List<String> names = Arrays.asList(type.fieldNames());
        for (String name : names) {
            if (schema.getField(name) == null) {
                throw new SchemaMismatchException(
                        "the schema has no such field" + CatalystTypes.at(CatalystTypes.below(path, name)));
            }
        }
        int width = names.size();
        List<Schema.Field> fields = schema.getFields();
        ValueWriter[] writers = new ValueWriter[fields.size()];
        int[] places = new int[writers.length];
        for (int i = 0; i < writers.length; i++) {
            Schema.Field field = fields.get(i);
            String below = CatalystTypes.below(path, field.name());
            places[i] = names.indexOf(field.name());
            writers[i] = places[i] < 0
                    ? constant(field, below)
                    : of(type.apply(places[i]).dataType(), field.schema(), below);
        }
        return (from, place, to) -> {
            InternalRow row = from.getStruct(place, width);
            for (int i = 0; i < writers.length; i++) {
                writers[i].write(row, places[i], to);
            }
        };
    }

    /** The default of a field that no value is given for. */
    private static ValueWriter constant(Schema.Field field, String path) {
        if (!field.hasDefaultValue()) {
            throw new SchemaMismatchException(
                    "there is no value for a field that has no default" + CatalystTypes.at(path));
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
        return (from, place, to) -> to.writeFixed(value);
    }

    private static ValueWriter array(ArrayType type, Schema schema, String path) {
        ValueWriter item = of(type.elementType(), schema.getElementType(), path + "[]");
        return (from, place, to) -> {
            ArrayData items = from.getArray(place);
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
        return (from, place, to) -> {
            MapData items = from.getMap(place);
            int count = items.numElements();
            if (count > 0) {
                to.writeLong(count);
                for (int i = 0; i < count; i++) {
                    to.writeString(items.keyArray().getUTF8String(i));
                    item.write(items.valueArray(), i, to);
                }
            }
            to.writeLong(0);
        };
    }

    private static ValueWriter union(DataType type, Schema schema, String path) {
        List<Schema> branches = schema.getTypes();
        int absent = branches.indexOf(Schema.create(Schema.Type.NULL));
        ValueWriter writer =
                isMembers(type, schema) ? members((StructType) type, schema, path) : branch(type, schema, path);
        return (from, place, to) -> {
            if (!from.isNullAt(place)) {
                writer.write(from, place, to);
            } else if (absent >= 0) {
                to.writeLong(absent);
            } else {
                throw SchemaMismatchException.ofValue(path, "a value is null, and the schema does not allow it");
            }
        };
    }

    /** Whether the type is what a union of several types is decoded to: a struct with one field for each. */
    private static boolean isMembers(DataType type, Schema union) {
        return type instanceof StructType struct
                && CatalystTypes.present(union).size() > 1
                && CatalystTypes.of(union) instanceof StructType own
                && Arrays.equals(own.fieldNames(), struct.fieldNames());
    }

    private static ValueWriter members(StructType type, Schema union, String path) {
        List<Schema> present = CatalystTypes.present(union);
        List<ValueWriter> writers = new ArrayList<>();
        int[] branches = new int[present.size()];
        for (int i = 0; i < branches.length; i++) {
            branches[i] = union.getTypes().indexOf(present.get(i));
            writers.add(of(type.apply(i).dataType(), present.get(i), CatalystTypes.below(path, "member" + i)));
        }
        return (from, place, to) -> {
            InternalRow row = from.getStruct(place, branches.length);
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

    /** The first branch that holds the type; its own complaint where there is but one. */
    private static ValueWriter branch(DataType type, Schema union, String path) {
        List<Schema> branches = union.getTypes();
        SchemaMismatchException last = null;
        for (int i = 0; i < branches.size(); i++) {
            if (branches.get(i).getType() == Schema.Type.NULL) {
                continue;
            }
            try {
                ValueWriter writer = present(type, branches.get(i), path);
                int index = i;
                return (from, place, to) -> {
                    to.writeLong(index);
                    writer.write(from, place, to);
                };
            } catch (SchemaMismatchException error) {
                last = error;
            }
        }
        if (type instanceof NullType) {
            return (from, place, to) -> {};
        }
        throw last == null
                ? new SchemaMismatchException(
                        type.simpleString() + " does not fit a union of nothing" + CatalystTypes.at(path))
                : last;
    }
}
