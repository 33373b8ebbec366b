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
 * fit is an error only for records that contain it, not for records with another branch of a union.
 */
final class ValueReaders {
    private static final GenericData GENERIC_DATA = new GenericData();

    private ValueReaders() {}

    /** A reader of values of {@code writer} as values of {@code reader}. */
    static ValueReader of(Schema writer, Schema reader) {
        try {
            return of(Resolver.resolve(Schema.applyAliases(writer, reader), reader, GENERIC_DATA));
        } catch (AvroRuntimeException error) {
            return failing("the writer schema does not fit: " + error.getMessage());
        }
    }

    private static ValueReader of(Resolver.Action action) {
        return switch (action.type) {
            case DO_NOTHING, PROMOTE -> ScalarReaders.of(action.writer, action.reader);
            case ENUM -> symbols((Resolver.EnumAdjust) action);
            case CONTAINER -> container((Resolver.Container) action);
            case RECORD -> record((Resolver.RecordAdjust) action);
            case WRITER_UNION -> writerUnion((Resolver.WriterUnion) action);
            case READER_UNION -> readerUnion((Resolver.ReaderUnion) action);
            case SKIP -> SkippedValues.of(List.of(action.writer));
            case ERROR -> error((Resolver.ErrorAction) action);
        };
    }

    private static ValueReader symbols(Resolver.EnumAdjust action) {
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
                throw new MalformedRecordException(
                        "the enum has no " + ShownValue.choose("symbol " + written.get(index), "such symbol"));
            }
            return symbols[index];
        };
    }

    private static ValueReader container(Resolver.Container action) {
        boolean isMap = action.reader.getType() == Schema.Type.MAP;
        ValueReader item = of(action.elementAction);
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
                items.add(readItem(item, in, items.size()));
            }
        }
        return new GenericArrayData(items.toArray());
    }

    private static Object readItem(ValueReader item, AvroInput in, int index) {
        try {
            return item.read(in);
        } catch (MalformedRecordException error) {
            throw error.inItem(index);
        }
    }

    private static Object map(ValueReader item, AvroInput in) {
        Map<UTF8String, Object> items =
                new LinkedHashMap<>(); // of several values with the same key the last one wins, as in Avro
        for (long count = in.readCount(); count > 0; count = in.readCount()) {
            in.budget().takeEntries(count);
            for (long i = 0; i < count; i++) {
                UTF8String key = in.readString();
                items.put(key, readEntry(item, in, key));
            }
        }
        Object[] keys = items.keySet().toArray();
        return new ArrayBasedMapData(
                new GenericArrayData(keys), new GenericArrayData(items.values().toArray()));
    }

    private static Object readEntry(ValueReader item, AvroInput in, UTF8String key) {
        try {
            return item.read(in);
        } catch (MalformedRecordException error) {
            throw error.inEntry(key);
        }
    }

    private static ValueReader record(Resolver.RecordAdjust action) {
        List<ValueReader> readers = new ArrayList<>();
        List<Integer> indexes = new ArrayList<>();
        List<List<Schema.Field>> fields = new ArrayList<>();
        List<Schema.Field> skipped = new ArrayList<>();
        int matched = 0;
        for (int i = 0; i < action.fieldActions.length; i++) {
            if (action.fieldActions[i].type == Resolver.Action.Type.SKIP) {
                skipped.add(action.writer.getFields().get(i));
                if (i + 1 == action.fieldActions.length
                        || action.fieldActions[i + 1].type != Resolver.Action.Type.SKIP) {
                    // One reader skips adjacent fields that the reader's schema does not contain.
                    readers.add(SkippedValues.of(
                            skipped.stream().map(Schema.Field::schema).toList()));
                    indexes.add(-1);
                    fields.add(List.copyOf(skipped));
                    skipped.clear();
                }
            } else {
                Schema.Field to = action.readerOrder[matched++];
                readers.add(of(action.fieldActions[i]));
                indexes.add(to.pos());
                fields.add(List.of(to));
            }
        }
        Object[] defaults = new Object[action.readerOrder.length];
        for (int i = action.firstDefault; i < defaults.length; i++) {
            Schema.Field field = action.readerOrder[i];
            defaults[field.pos()] = constant(field.schema(), action.defaults[i - action.firstDefault]);
        }
        return new RecordReader(
                readers.toArray(new ValueReader[0]),
                indexes.stream().mapToInt(Integer::intValue).toArray(),
                fields,
                defaults);
    }

    /** The Catalyst value of a default: the default is encoded and read again. */
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

    private static ValueReader writerUnion(Resolver.WriterUnion action) {
        ValueReader[] branches = new ValueReader[action.actions.length];
        for (int i = 0; i < branches.length; i++) {
            ValueReader branch = of(action.actions[i]);
            branches[i] = action.unionEquiv ? member(action.reader, i, branch) : branch;
        }
        return in -> branches[in.readIndex(branches.length)].read(in);
    }

    private static ValueReader readerUnion(Resolver.ReaderUnion action) {
        return member(action.reader, action.firstMatch, of(action.actualAction));
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

    private static ValueReader error(Resolver.ErrorAction action) {
        if (action.error == Resolver.ErrorAction.ErrorType.MISSING_REQUIRED_FIELD) {
            String name = missingField(action.writer, action.reader);
            return in -> {
                throw new MalformedRecordException("the writer schema lacks it, and it has no default").inField(name);
            };
        }
        return failing(
                "it was written as %s, which cannot be read as %s".formatted(name(action.writer), name(action.reader)));
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
}
