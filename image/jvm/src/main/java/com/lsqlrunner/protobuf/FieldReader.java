package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads one field of a message. Threads may share it. */
final class FieldReader {
    /** The index of the field in the struct; negative if the struct does not have it. */
    final int column;

    /** The index of the field's values among the collected values of the message. */
    final int index;

    private final FieldSpec field;
    private final MessageReader message;
    private final Function<ProtobufInput, Object> scalar;
    private final Function<ProtobufInput, Object> key;
    private int[] othersOfOneof = {};

    FieldReader(FieldSpec field, int column, int index, DataType type) {
        this.field = field;
        this.column = column;
        this.index = index;
        DataType valueType = type instanceof ArrayType array && field.isRepeated()
                ? array.elementType()
                : type instanceof MapType map && field.isMap() ? map.valueType() : type;
        message = field.isMessage() ? new MessageReader(field.fields(), field.kind(), valueType) : null;
        scalar = field.isMessage() ? null : ScalarFieldReaders.reader(field);
        key = field.isMap() ? ScalarFieldReaders.reader(field.key()) : null;
    }

    FieldSpec field() {
        return field;
    }

    /** Sets the indexes of the other fields of the oneof: a value of this field removes their values. */
    void setOthersOfOneof(int... indexes) {
        othersOfOneof = indexes;
    }

    /** Reads a value. Returns false if the field has another wire type. */
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

    private Object[] readItem(ProtobufInput in, int item) {
        try {
            return readMessage(in, null);
        } catch (MalformedRecordException error) {
            throw error.inItem(item);
        }
    }

    @SuppressWarnings("unchecked")
    private boolean readItems(ProtobufInput in, int wire, Object[] values) {
        boolean packed = wire == WireType.LENGTH && field.wire() != WireType.LENGTH;
        if (wire != field.wire() && !packed) {
            return false;
        }
        List<Object> items = (List<Object>) (values[index] == null ? values[index] = new ArrayList<>() : values[index]);
        if (packed) {
            int outer = in.pushLimit();
            while (in.hasMore()) {
                in.budget().takeItems(1);
                items.add(scalar.apply(in));
            }
            in.popLimit(outer);
        } else {
            in.budget().takeItems(1);
            items.add(message == null ? scalar.apply(in) : readItem(in, items.size()));
        }
        return true;
    }

    @SuppressWarnings("unchecked")
    private boolean readEntry(ProtobufInput in, Object[] values) {
        in.budget().takeEntries(1);
        Object name = ScalarFieldReaders.defaultValue(field.key());
        Object value = null;
        int outer = in.pushLimit();
        try {
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
        } catch (MalformedRecordException error) {
            throw error.inEntry(name);
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
                case "required" -> throw new MalformedRecordException("it is required, and missing");
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
        Object[] converted = new Object[items.size()];
        int item = 0;
        try {
            for (; item < converted.length; item++) {
                converted[item] = converted(items.get(item));
            }
        } catch (MalformedRecordException error) {
            throw error.inItem(item);
        }
        return new GenericArrayData(converted);
    }

    private ArrayBasedMapData entries(Object value) {
        Map<?, ?> entries = value == null ? Map.of() : (Map<?, ?>) value;
        return new ArrayBasedMapData(
                new GenericArrayData(entries.keySet().toArray()),
                new GenericArrayData(
                        entries.values().stream().map(this::converted).toArray()));
    }
}
