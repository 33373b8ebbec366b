package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Reads messages as Catalyst values. A field may occur several times, and several occurrences of a message are merged,
 * so values are collected first and converted at the end of the record. Threads may share it.
 */
final class MessageReader {
    private static final int SMALL_NUMBERS = 64;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final List<FieldSpec> fields;
    private final FieldReader[] readers;
    private final FieldReader[] bySmallNumber = new FieldReader[SMALL_NUMBERS];
    private final Map<Integer, FieldReader> byNumber = new HashMap<>();
    private final int width;
    private final String kind;

    /**
     * @param kind {@code message}, {@code timestamp} or {@code wrapper}
     * @param type for a message, the fields to read
     */
    MessageReader(List<FieldSpec> fields, String kind, DataType type) {
        this.fields = fields;
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
                kept.add(new FieldReader(field, column, kept.size(), fieldType));
            }
        }
        readers = kept.toArray(FieldReader[]::new);
        for (FieldReader reader : readers) {
            if (reader.field().number() < SMALL_NUMBERS) {
                bySmallNumber[reader.field().number()] = reader;
            } else {
                byNumber.put(reader.field().number(), reader);
            }
            String oneof = reader.field().oneof();
            reader.setOthersOfOneof(kept.stream()
                    .filter(other -> other != reader
                            && oneof != null
                            && oneof.equals(other.field().oneof()))
                    .mapToInt(other -> other.index)
                    .toArray());
        }
    }

    /** The values of a message before anything is read. */
    Object[] empty(ProtobufInput in) {
        in.budget().takeFields(readers.length + width);
        return new Object[readers.length];
    }

    /** Reads to the end, and adds to the values that were already read of the message. */
    void read(ProtobufInput in, Object[] values) {
        int number = 0;
        try {
            while (in.hasMore()) {
                number = 0;
                int tag = in.readTag();
                number = tag >>> 3;
                FieldReader reader = number < SMALL_NUMBERS ? bySmallNumber[number] : byNumber.get(number);
                if (reader == null || !reader.read(in, tag & 7, values)) {
                    in.skip(tag);
                }
            }
        } catch (MalformedRecordException error) {
            throw number > 0 && kind.equals("message") ? error.inField(nameOf(number)) : error;
        }
    }

    /** The name of a field; empty for a number that the schema does not have, which may be any bytes of the record. */
    private String nameOf(int number) {
        return fields.stream()
                .filter(field -> field.number() == number)
                .map(FieldSpec::name)
                .findFirst()
                .orElse(ShownValue.choose("#" + number, ""));
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
        int i = 0;
        try {
            for (; i < readers.length; i++) {
                Object value = readers[i].result(values);
                if (readers[i].column >= 0) {
                    columns[readers[i].column] = value;
                }
            }
        } catch (MalformedRecordException error) {
            throw error.inField(readers[i].field().name());
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
}
