package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Resolver;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Creates readers of values that one schema wrote, as values of another. Avro's schema resolution decides which types
 * fit. Its actions become readers that create Catalyst values, without Avro's records in between. A type that does not
 * fit is an error only of the records that contain it, not of records with another branch of a union.
 */
final class ValueReaders {
    private static final GenericData GENERIC_DATA = new GenericData();

    private ValueReaders() {}

    /** A reader of values of {@code writer} as values of {@code reader}. */
    static ValueReader of(Schema writer, Schema reader) {
        try {
            return of(Resolver.resolve(Schema.applyAliases(writer, reader), reader, GENERIC_DATA), "");
        } catch (AvroRuntimeException error) {
            return failing("the writer schema does not fit: " + error.getMessage());
        }
    }

    private static ValueReader of(Resolver.Action action, String path) {
        return switch (action.type) {
            case DO_NOTHING, PROMOTE -> ScalarReaders.of(action.writer, action.reader);
            case ENUM -> symbols((Resolver.EnumAdjust) action, path);
            case CONTAINER -> container((Resolver.Container) action, path);
            case RECORD -> record((Resolver.RecordAdjust) action, path);
            case WRITER_UNION -> writerUnion((Resolver.WriterUnion) action, path);
            case READER_UNION -> readerUnion((Resolver.ReaderUnion) action, path);
            case SKIP -> SkippedValues.of(List.of(action.writer));
            case ERROR -> failing(reason((Resolver.ErrorAction) action, path));
        };
    }

    private static ValueReader symbols(Resolver.EnumAdjust action, String path) {
        UTF8String[] symbols = new UTF8String[action.adjustments.length];
        for (int i = 0; i < symbols.length; i++) {
            int index = action.adjustments[i];
            symbols[i] = index < 0
                    ? null
                    : UTF8String.fromString(action.reader.getEnumSymbols().get(index));
        }
        List<String> written = action.writer.getEnumSymbols();
        return in -> {
            int index = in.readIndex(symbols.length);
            if (symbols[index] == null) {
                throw new MalformedRecordException("the enum has no "
                        + ShownValue.choose("symbol " + written.get(index), "such symbol")
                        + CatalystTypes.fieldSuffix(path));
            }
            return symbols[index];
        };
    }

    private static ValueReader container(Resolver.Container action, String path) {
        boolean isMap = action.reader.getType() == Schema.Type.MAP;
        ValueReader item = of(action.elementAction, path + (isMap ? "{}" : "[]"));
        return isMap ? in -> map(item, in) : in -> array(item, in);
    }

    private static Object array(ValueReader item, AvroInput in) {
        long count = in.readCount();
        if (count == 0) {
            return new GenericArrayData(new Object[0]);
        }
        List<Object> items = new ArrayList<>((int) Math.min(count, in.remaining() + 1));
        for (; count > 0; count = in.readCount()) {
            in.budget().takeItems(count);
            for (long i = 0; i < count; i++) {
                items.add(item.read(in));
            }
        }
        return new GenericArrayData(items.toArray());
    }

    private static Object map(ValueReader item, AvroInput in) {
        Map<UTF8String, Object> items =
                new LinkedHashMap<>(); // of several values with the same key the last one wins, as in Avro
        for (long count = in.readCount(); count > 0; count = in.readCount()) {
            in.budget().takeEntries(count);
            for (long i = 0; i < count; i++) {
                items.put(in.readString(), item.read(in));
            }
        }
        Object[] keys = items.keySet().toArray();
        return new ArrayBasedMapData(
                new GenericArrayData(keys), new GenericArrayData(items.values().toArray()));
    }

    private static ValueReader record(Resolver.RecordAdjust action, String path) {
        List<ValueReader> fields = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        List<Schema> skipped = new ArrayList<>();
        int matched = 0;
        for (Resolver.Action field : action.fieldActions) {
            if (field.type == Resolver.Action.Type.SKIP) {
                skipped.add(field.writer);
                continue;
            }
            addSkipped(skipped, fields, indexes);
            Schema.Field to = action.readerOrder[matched++];
            fields.add(of(field, CatalystTypes.childPath(path, to.name())));
            indexes.add(to.pos());
        }
        addSkipped(skipped, fields, indexes);
        Object[] defaults = new Object[action.readerOrder.length];
        for (int i = action.firstDefault; i < defaults.length; i++) {
            Schema.Field field = action.readerOrder[i];
            defaults[field.pos()] = constant(field.schema(), action.defaults[i - action.firstDefault]);
        }
        return new RecordReader(
                fields.toArray(new ValueReader[0]),
                indexes.stream().mapToInt(Integer::intValue).toArray(),
                defaults);
    }

    /** Moves adjacent fields that the reader's schema does not contain to one reader, whose index is -1. */
    private static void addSkipped(List<Schema> skipped, List<ValueReader> fields, List<Integer> indexes) {
        if (!skipped.isEmpty()) {
            fields.add(SkippedValues.of(skipped));
            indexes.add(-1);
            skipped.clear();
        }
    }

    /** The Catalyst value of a default, which is encoded and read again. */
    private static Object constant(Schema schema, Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<>(schema, GENERIC_DATA).write(value, encoder);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return of(schema, schema).read(new AvroInput().start(bytes.toByteArray(), 0));
    }

    private static ValueReader writerUnion(Resolver.WriterUnion action, String path) {
        ValueReader[] branches = new ValueReader[action.actions.length];
        for (int i = 0; i < branches.length; i++) {
            ValueReader branch = of(action.actions[i], path);
            branches[i] = action.unionEquiv ? member(action.reader, i, branch) : branch;
        }
        return in -> branches[in.readIndex(branches.length)].read(in);
    }

    private static ValueReader readerUnion(Resolver.ReaderUnion action, String path) {
        return member(action.reader, action.firstMatch, of(action.actualAction, path));
    }

    /** Converts the value of a branch of a union to the value of the union. */
    private static ValueReader member(Schema union, int branch, ValueReader value) {
        List<Schema> branches = CatalystTypes.nonNullBranches(union);
        Schema branchSchema = union.getTypes().get(branch);
        if (branches.size() <= 1 || branchSchema.getType() == Schema.Type.NULL) {
            return value;
        }
        if (CatalystTypes.isWidened(branches)) {
            return switch (branchSchema.getType()) {
                case INT -> in -> ((Integer) value.read(in)).longValue();
                case FLOAT -> in -> ((Float) value.read(in)).doubleValue();
                default -> value;
            };
        }
        int index = branches.indexOf(branchSchema);
        int size = branches.size();
        return in -> {
            Object[] members = new Object[size];
            members[index] = value.read(in);
            return new GenericInternalRow(members);
        };
    }

    private static ValueReader failing(String reason) {
        return in -> {
            throw new MalformedRecordException(reason);
        };
    }

    private static String reason(Resolver.ErrorAction action, String path) {
        if (action.error == Resolver.ErrorAction.ErrorType.MISSING_REQUIRED_FIELD) {
            String name = missingField(action.writer, action.reader);
            return "the writer schema lacks a field that has no default"
                    + CatalystTypes.fieldSuffix(CatalystTypes.childPath(path, name));
        }
        String template = "the record was written as %s, which cannot be read as %s";
        return template.formatted(name(action.writer), name(action.reader)) + CatalystTypes.fieldSuffix(path);
    }

    private static String missingField(Schema writer, Schema reader) {
        return reader.getFields().stream()
                .filter(field -> writer.getField(field.name()) == null && !field.hasDefaultValue())
                .map(Schema.Field::name)
                .findFirst()
                .orElse("");
    }

    private static String name(Schema schema) {
        return switch (schema.getType()) {
            case FIXED -> schema.getFullName() + " of " + schema.getFixedSize() + " bytes";
            case RECORD, ENUM -> schema.getFullName();
            default -> schema.getType().getName();
        };
    }

    /** Reads the fields of a record in the order of the writer, and stores each at its index in the reader's schema. */
    private record RecordReader(ValueReader[] fields, int[] indexes, Object[] defaults) implements ValueReader {
        @Override
        public Object read(AvroInput in) {
            in.budget().takeFields(defaults.length);
            Object[] values = defaults.clone();
            for (int i = 0; i < fields.length; i++) {
                ValueReader field = fields[i];
                if (field instanceof PlainReader plain) {
                    values[indexes[i]] = plain.read(in);
                } else if (field instanceof SkippedValues skipped) {
                    skipped.read(in);
                } else {
                    values[indexes[i]] = field.read(in);
                }
            }
            return new GenericInternalRow(values);
        }
    }
}
