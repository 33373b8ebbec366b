package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads messages as Catalyst values. A field may occur several times, and several occurrences of a message are merged,
 * so values are collected first and converted at the end of the record. Threads may share it.
 */
final class MessageReader {
    private static final int SMALL_NUMBERS = 64;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final FieldReader[] readers;
    private final FieldReader[] bySmallNumber = new FieldReader[SMALL_NUMBERS];
    private final Map<Integer, FieldReader> byNumber = new HashMap<>();
    private final int width;
    private final String kind;

    /**
     * @param kind {@code message}, {@code timestamp} or {@code wrapper}
     * @param type for a message, the fields to read
     */
    MessageReader(List<FieldSpec> fields, String kind, DataType type, String path) {
        this.kind = kind;
        StructType struct = type instanceof StructType structType && kind.equals("message") ? structType : null;
        width = struct == null ? fields.size() : struct.size();
        List<FieldReader> kept = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            FieldSpec field = fields.get(i);
            int column = struct == null ? i : List.of(struct.fieldNames()).indexOf(field.name());
            if (column >= 0 || field.oneof() != null || field.presence().equals("required")) {
                DataType fieldType = struct == null || column < 0
                        ? null
                        : struct.apply(column).dataType();
                kept.add(new FieldReader(
                        field,
                        column,
                        kept.size(),
                        fieldType,
                        path.isEmpty() ? field.name() : path + "." + field.name()));
            }
        }
        readers = kept.toArray(FieldReader[]::new);
        for (FieldReader reader : readers) {
            if (reader.field.number() < SMALL_NUMBERS) {
                bySmallNumber[reader.field.number()] = reader;
            } else {
                byNumber.put(reader.field.number(), reader);
            }
            reader.othersOfOneof = kept.stream()
                    .filter(other -> other != reader
                            && reader.field.oneof() != null
                            && reader.field.oneof().equals(other.field.oneof()))
                    .mapToInt(other -> other.index)
                    .toArray();
        }
    }

    /** The values of a message before anything is read. */
    Object[] empty(ProtobufInput in) {
        in.budget().takeFields(readers.length + width);
        return new Object[readers.length];
    }

    /** Reads to the end, and adds to the values that were already read of the message. */
    void read(ProtobufInput in, Object[] values) {
        while (in.hasMore()) {
            int tag = in.readTag();
            int number = tag >>> 3;
            FieldReader reader = number < SMALL_NUMBERS ? bySmallNumber[number] : byNumber.get(number);
            if (reader == null || !reader.read(in, tag & 7, values)) {
                in.skip(tag);
            }
        }
    }

    /** The Catalyst value of the collected values. */
    Object result(Object[] values) {
        return switch (kind) {
            case "timestamp" -> micros((Long) readers[0].result(values), (Integer) readers[1].result(values));
            case "wrapper" -> readers[0].result(values);
            default -> row(values);
        };
    }

    private Object row(Object[] values) {
        Object[] columns = new Object[width];
        for (FieldReader reader : readers) {
            Object value = reader.result(values);
            if (reader.column >= 0) {
                columns[reader.column] = value;
            }
        }
        return new GenericInternalRow(columns);
    }

    private static long micros(long seconds, int nanos) {
        if (nanos < 0 || nanos >= NANOS_PER_SECOND) {
            throw new MalformedRecordException(ShownValue.choose(
                    "a timestamp has %d nanoseconds".formatted(nanos),
                    "the nanoseconds of a timestamp are out of range"));
        }
        try {
            return Math.addExact(
                    Math.multiplyExact(seconds, MICROS_PER_SECOND), nanos / (NANOS_PER_SECOND / MICROS_PER_SECOND));
        } catch (ArithmeticException error) {
            throw new MalformedRecordException(ShownValue.choose(
                    "a timestamp of %d seconds is out of range".formatted(seconds), "a timestamp is out of range"));
        }
    }

    /** Reads one field. */
    private static final class FieldReader {
        private final FieldSpec field;
        private final int column;
        private final int index;
        private final String path;
        private final MessageReader message;
        private final Function<ProtobufInput, Object> scalar;
        private final Function<ProtobufInput, Object> key;
        private int[] othersOfOneof;

        FieldReader(FieldSpec field, int column, int index, DataType type, String path) {
            this.field = field;
            this.column = column;
            this.index = index;
            this.path = path;
            DataType valueType = type instanceof ArrayType array && field.isRepeated()
                    ? array.elementType()
                    : type instanceof MapType map && field.isMap() ? map.valueType() : type;
            message = field.isMessage() ? new MessageReader(field.fields(), field.kind(), valueType, path) : null;
            scalar = field.isMessage() ? null : ScalarFieldReaders.reader(field);
            key = field.isMap() ? ScalarFieldReaders.reader(field.key()) : null;
        }

        /** Reads a value. Returns false if the wire type is not that of the field. */
        boolean read(ProtobufInput in, int wire, Object[] values) {
            if (field.isMap()) {
                return wire == WireType.LENGTH && readEntry(in, values);
            }
            if (field.isRepeated()) {
                return readItems(in, wire, values);
            }
            if (wire != field.wire()) {
                return false;
            }
            values[index] = message == null ? scalar.apply(in) : readMessage(in, (Object[]) values[index]);
            for (int other : othersOfOneof) {
                values[other] = null;
            }
            return true;
        }

        private Object[] readMessage(ProtobufInput in, Object[] before) {
            Object[] messageValues = before == null ? message.empty(in) : before;
            int outer = in.pushLimit();
            message.read(in, messageValues);
            in.popLimit(outer);
            return messageValues;
        }

        @SuppressWarnings("unchecked")
        private boolean readItems(ProtobufInput in, int wire, Object[] values) {
            boolean packed = wire == WireType.LENGTH && field.wire() != WireType.LENGTH;
            if (wire != field.wire() && !packed) {
                return false;
            }
            List<Object> items =
                    (List<Object>) (values[index] == null ? values[index] = new ArrayList<>() : values[index]);
            if (packed) {
                int outer = in.pushLimit();
                while (in.hasMore()) {
                    in.budget().takeItems(1);
                    items.add(scalar.apply(in));
                }
                in.popLimit(outer);
            } else {
                in.budget().takeItems(1);
                items.add(message == null ? scalar.apply(in) : readMessage(in, null));
            }
            return true;
        }

        @SuppressWarnings("unchecked")
        private boolean readEntry(ProtobufInput in, Object[] values) {
            in.budget().takeEntries(1);
            Object name = ScalarFieldReaders.defaultValue(field.key());
            Object value = null;
            int outer = in.pushLimit();
            while (in.hasMore()) {
                int tag = in.readTag();
                if (tag == (1 << 3 | FieldSpec.wire(field.key()))) {
                    name = key.apply(in);
                } else if (tag == (2 << 3 | field.wire())) {
                    value = message == null ? scalar.apply(in) : readMessage(in, (Object[]) value);
                } else {
                    in.skip(tag);
                }
            }
            in.popLimit(outer);
            if (value == null) {
                value = message == null ? ScalarFieldReaders.defaultValue(field) : message.empty(in);
            }
            if (values[index] == null) {
                values[index] = new LinkedHashMap<UTF8String, Object>();
            }
            UTF8String text = name instanceof UTF8String string ? string : UTF8String.fromString(name.toString());
            ((Map<UTF8String, Object>) values[index]).put(text, value);
            return true;
        }

        Object result(Object[] values) {
            Object value = values[index];
            if (field.isRepeated()) {
                return column < 0 ? null : items(value);
            }
            if (field.isMap()) {
                return column < 0 ? null : entries(value);
            }
            if (value == null) {
                return switch (field.presence()) {
                    case "implicit" -> ScalarFieldReaders.defaultValue(field);
                    case "required" ->
                        throw new MalformedRecordException("the required field %s is missing".formatted(path));
                    default -> null;
                };
            }
            return converted(value);
        }

        private Object converted(Object value) {
            return message == null ? value : message.result((Object[]) value);
        }

        private GenericArrayData items(Object value) {
            List<?> items = value == null ? List.of() : (List<?>) value;
            return new GenericArrayData(items.stream().map(this::converted).toArray());
        }

        private ArrayBasedMapData entries(Object value) {
            Map<?, ?> entries = value == null ? Map.of() : (Map<?, ?>) value;
            return new ArrayBasedMapData(
                    new GenericArrayData(entries.keySet().toArray()),
                    new GenericArrayData(
                            entries.values().stream().map(this::converted).toArray()));
        }
    }
}
