package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
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
 * Messages to what Catalyst holds. A message may come in pieces, and a field more than once, so its values are
 * collected first and made one value when the record is at its end. Threads may share it.
 */
final class MessageReader {
    private static final int FEW = 64;
    private static final long MICROS = 1_000_000;
    private static final long NANOS = 1_000_000_000;

    private final Slot[] slots;
    private final Slot[] few = new Slot[FEW];
    private final Map<Integer, Slot> more = new HashMap<>();
    private final int width;
    private final String kind;

    /**
     * @param kind {@code message}, {@code timestamp} or {@code wrapper}
     * @param wanted of a message: its fields that are read
     */
    MessageReader(List<FieldSpec> fields, String kind, DataType wanted, String path) {
        this.kind = kind;
        StructType struct = wanted instanceof StructType type && kind.equals("message") ? type : null;
        width = struct == null ? fields.size() : struct.size();
        List<Slot> kept = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            FieldSpec field = fields.get(i);
            int place = struct == null ? i : List.of(struct.fieldNames()).indexOf(field.name());
            if (place >= 0 || field.oneof() != null || field.presence().equals("required")) {
                DataType type =
                        struct == null || place < 0 ? null : struct.apply(place).dataType();
                kept.add(new Slot(
                        field, place, kept.size(), type, path.isEmpty() ? field.name() : path + "." + field.name()));
            }
        }
        slots = kept.toArray(Slot[]::new);
        for (Slot slot : slots) {
            if (slot.field.number() < FEW) {
                few[slot.field.number()] = slot;
            } else {
                more.put(slot.field.number(), slot);
            }
            slot.rivals = kept.stream()
                    .filter(other -> other != slot
                            && slot.field.oneof() != null
                            && slot.field.oneof().equals(other.field.oneof()))
                    .mapToInt(other -> other.at)
                    .toArray();
        }
    }

    /** The values of a message that nothing has been read of. */
    Object[] empty() {
        return new Object[slots.length];
    }

    /** Reads to the end, into the values of pieces before. */
    void read(ProtobufBytes in, Object[] values) {
        while (in.hasMore()) {
            int tag = in.readTag();
            int number = tag >>> 3;
            Slot slot = number < FEW ? few[number] : more.get(number);
            if (slot == null || !slot.read(in, tag & 7, values)) {
                in.skip(tag);
            }
        }
    }

    /** What the values are. */
    Object finished(Object[] values) {
        return switch (kind) {
            case "timestamp" -> micros((Long) slots[0].finished(values), (Integer) slots[1].finished(values));
            case "wrapper" -> slots[0].finished(values);
            default -> row(values);
        };
    }

    private Object row(Object[] values) {
        Object[] found = new Object[width];
        for (Slot slot : slots) {
            Object value = slot.finished(values);
            if (slot.place >= 0) {
                found[slot.place] = value;
            }
        }
        return new GenericInternalRow(found);
    }

    private static long micros(long seconds, int nanos) {
        if (nanos < 0 || nanos >= NANOS) {
            throw new MalformedRecordException("a time has %d nanoseconds".formatted(nanos));
        }
        try {
            return Math.addExact(Math.multiplyExact(seconds, MICROS), nanos / (NANOS / MICROS));
        } catch (ArithmeticException error) {
            throw new MalformedRecordException("a time is %d seconds away from 1970".formatted(seconds));
        }
    }

    /** One field. */
    private static final class Slot {
        private final FieldSpec field;
        private final int place;
        private final int at;
        private final String path;
        private final MessageReader message;
        private final Function<ProtobufBytes, Object> scalar;
        private final Function<ProtobufBytes, Object> key;
        private int[] rivals;

        Slot(FieldSpec field, int place, int at, DataType type, String path) {
            this.field = field;
            this.place = place;
            this.at = at;
            this.path = path;
            DataType one = type instanceof ArrayType array && field.isRepeated()
                    ? array.elementType()
                    : type instanceof MapType map && field.isMap() ? map.valueType() : type;
            message = field.isMessage() ? new MessageReader(field.fields(), field.kind(), one, path) : null;
            scalar = field.isMessage() ? null : Scalars.reader(field);
            key = field.isMap() ? Scalars.reader(field.key()) : null;
        }

        /** Reads a value; false if its wire type is not that of the field. */
        boolean read(ProtobufBytes in, int wire, Object[] values) {
            if (field.isMap()) {
                return wire == Wire.LENGTH && readEntry(in, values);
            }
            if (field.isRepeated()) {
                return readItems(in, wire, values);
            }
            if (wire != field.wire()) {
                return false;
            }
            values[at] = message == null ? scalar.apply(in) : readMessage(in, (Object[]) values[at]);
            for (int rival : rivals) {
                values[rival] = null;
            }
            return true;
        }

        private Object[] readMessage(ProtobufBytes in, Object[] before) {
            Object[] inner = before == null ? message.empty() : before;
            int outer = in.enter();
            message.read(in, inner);
            in.leave(outer);
            return inner;
        }

        @SuppressWarnings("unchecked")
        private boolean readItems(ProtobufBytes in, int wire, Object[] values) {
            boolean packed = wire == Wire.LENGTH && field.wire() != Wire.LENGTH;
            if (wire != field.wire() && !packed) {
                return false;
            }
            List<Object> items = (List<Object>) (values[at] == null ? values[at] = new ArrayList<>() : values[at]);
            if (packed) {
                int outer = in.enter();
                while (in.hasMore()) {
                    items.add(scalar.apply(in));
                }
                in.leave(outer);
            } else {
                items.add(message == null ? scalar.apply(in) : readMessage(in, null));
            }
            return true;
        }

        @SuppressWarnings("unchecked")
        private boolean readEntry(ProtobufBytes in, Object[] values) {
            Object name = Scalars.zero(field.key());
            Object value = null;
            int outer = in.enter();
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
            in.leave(outer);
            if (value == null) {
                value = message == null ? Scalars.zero(field) : message.empty();
            }
            if (values[at] == null) {
                values[at] = new LinkedHashMap<UTF8String, Object>();
            }
            UTF8String text = name instanceof UTF8String string ? string : UTF8String.fromString(name.toString());
            ((Map<UTF8String, Object>) values[at]).put(text, value);
            return true;
        }

        Object finished(Object[] values) {
            Object value = values[at];
            if (field.isRepeated()) {
                return place < 0 ? null : items(value);
            }
            if (field.isMap()) {
                return place < 0 ? null : entries(value);
            }
            if (value == null) {
                return switch (field.presence()) {
                    case "implicit" -> Scalars.zero(field);
                    case "required" ->
                        throw new MalformedRecordException("there is no %s, which is required".formatted(path));
                    default -> null;
                };
            }
            return one(value);
        }

        private Object one(Object value) {
            return message == null ? value : message.finished((Object[]) value);
        }

        private GenericArrayData items(Object value) {
            List<?> items = value == null ? List.of() : (List<?>) value;
            return new GenericArrayData(items.stream().map(this::one).toArray());
        }

        private ArrayBasedMapData entries(Object value) {
            Map<?, ?> entries = value == null ? Map.of() : (Map<?, ?>) value;
            return new ArrayBasedMapData(
                    new GenericArrayData(entries.keySet().toArray()),
                    new GenericArrayData(
                            entries.values().stream().map(this::one).toArray()));
        }
    }
}
