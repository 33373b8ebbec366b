package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
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
 * Readers of what one schema wrote, as values of another. What fits what is Avro's own decision; its actions are turned
 * into readers that make Catalyst's values, without Avro's records in between. What does not fit is an error of the
 * records that have it, not of those that take another branch of a union.
 */
final class Readers {
    private static final GenericData PLAIN = new GenericData();

    private Readers() {}

    /** A reader of what {@code writer} wrote, as the type of {@code reader}. */
    static ValueReader of(Schema writer, Schema reader) {
        try {
            return of(Resolver.resolve(Schema.applyAliases(writer, reader), reader, PLAIN), "");
        } catch (AvroRuntimeException error) {
            return failing("the schema that the record was written with does not fit: " + error.getMessage());
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
            case SKIP -> Skipping.of(action.writer);
            case ERROR -> failing(reason((Resolver.ErrorAction) action, path));
        };
    }

    private static ValueReader symbols(Resolver.EnumAdjust action, String path) {
        UTF8String[] symbols = new UTF8String[action.adjustments.length];
        for (int i = 0; i < symbols.length; i++) {
            int place = action.adjustments[i];
            symbols[i] = place < 0
                    ? null
                    : UTF8String.fromString(action.reader.getEnumSymbols().get(place));
        }
        List<String> written = action.writer.getEnumSymbols();
        return in -> {
            int place = in.readIndex(symbols.length);
            if (symbols[place] == null) {
                throw new MalformedRecordException(
                        "the enum has no symbol " + written.get(place) + CatalystTypes.at(path));
            }
            return symbols[place];
        };
    }

    private static ValueReader container(Resolver.Container action, String path) {
        boolean isMap = action.reader.getType() == Schema.Type.MAP;
        ValueReader item = of(action.elementAction, path + (isMap ? "{}" : "[]"));
        return isMap ? in -> map(item, in) : in -> array(item, in);
    }

    private static Object array(ValueReader item, AvroBytes in) {
        int count = in.readCount();
        if (count == 0) {
            return new GenericArrayData(new Object[0]);
        }
        List<Object> items = new ArrayList<>(Math.min(count, in.left() + 1));
        for (; count > 0; count = in.readCount()) {
            for (int i = 0; i < count; i++) {
                items.add(item.read(in));
            }
        }
        return new GenericArrayData(items.toArray());
    }

    private static Object map(ValueReader item, AvroBytes in) {
        Map<UTF8String, Object> items =
                new LinkedHashMap<>(); // of a key that comes twice the last value counts, as in Avro
        for (int count = in.readCount(); count > 0; count = in.readCount()) {
            for (int i = 0; i < count; i++) {
                items.put(in.readString(), item.read(in));
            }
        }
        Object[] keys = items.keySet().toArray();
        return new ArrayBasedMapData(
                new GenericArrayData(keys), new GenericArrayData(items.values().toArray()));
    }

    private static ValueReader record(Resolver.RecordAdjust action, String path) {
        int written = action.fieldActions.length;
        ValueReader[] fields = new ValueReader[written];
        int[] places = new int[written];
        int matched = 0;
        for (int i = 0; i < written; i++) {
            boolean isSkipped = action.fieldActions[i].type == Resolver.Action.Type.SKIP;
            Schema.Field field = isSkipped ? null : action.readerOrder[matched++];
            places[i] = isSkipped ? -1 : field.pos();
            fields[i] = of(action.fieldActions[i], isSkipped ? path : CatalystTypes.below(path, field.name()));
        }
        Object[] defaults = new Object[action.readerOrder.length];
        for (int i = action.firstDefault; i < defaults.length; i++) {
            Schema.Field field = action.readerOrder[i];
            defaults[field.pos()] = constant(field.schema(), action.defaults[i - action.firstDefault]);
        }
        return new RecordReader(fields, places, defaults);
    }

    /** The Catalyst value of a default, by way of its bytes. */
    private static Object constant(Schema schema, Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<>(schema, PLAIN).write(value, encoder);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return of(schema, schema).read(new AvroBytes().start(bytes.toByteArray(), 0));
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

    /** The value of a branch of a union as the value of the union. */
    private static ValueReader member(Schema union, int branch, ValueReader value) {
        List<Schema> branches = CatalystTypes.present(union);
        Schema own = union.getTypes().get(branch);
        if (branches.size() <= 1 || own.getType() == Schema.Type.NULL) {
            return value;
        }
        if (CatalystTypes.isWidened(branches)) {
            return switch (own.getType()) {
                case INT -> in -> ((Integer) value.read(in)).longValue();
                case FLOAT -> in -> ((Float) value.read(in)).doubleValue();
                default -> value;
            };
        }
        int place = branches.indexOf(own);
        int size = branches.size();
        return in -> {
            Object[] members = new Object[size];
            members[place] = value.read(in);
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
            String name = missing(action.writer, action.reader);
            return "the record was written without a field that has no default"
                    + CatalystTypes.at(CatalystTypes.below(path, name));
        }
        String said = "the record was written as %s, which cannot be read as %s";
        return said.formatted(name(action.writer), name(action.reader)) + CatalystTypes.at(path);
    }

    private static String missing(Schema writer, Schema reader) {
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

    /** A record: its fields in the order in which they were written, each to its place. */
    private record RecordReader(ValueReader[] fields, int[] places, Object[] defaults) implements ValueReader {
        @Override
        public Object read(AvroBytes in) {
            Object[] values = defaults.clone();
            for (int i = 0; i < fields.length; i++) {
                Object value = fields[i].read(in);
                if (places[i] >= 0) {
                    values[places[i]] = value;
                }
            }
            return new GenericInternalRow(values);
        }
    }
}
