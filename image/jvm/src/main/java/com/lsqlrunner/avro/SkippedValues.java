package com.lsqlrunner.avro;

import com.lsqlrunner.bytes.RecordBudget;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;

/**
 * Skips values that the reader schema does not contain, without creating an object. Adjacent values are one step: four
 * numbers, or two doubles.
 */
final class SkippedValues implements ValueReader {
    private static final Schema MAP_KEY = Schema.create(Schema.Type.STRING);

    private enum Kind {
        /** Integers of variable size. */
        NUMBERS,
        /** Values of fixed size. */
        BYTES,
        /** A length, then a value. */
        WITH_LENGTH,
        BOOLEAN,
        /** A number, then one of the values. */
        UNION,
        RECORD,
        /** The items of an array or a map, in blocks: a count, then the items. */
        BLOCKS
    }

    /**
     * @param count of numbers, or of bytes
     * @param values the branches of a union; for a record or an item, one reader of all its values
     */
    private record Step(Kind kind, int count, SkippedValues... values) {}

    private final List<Step> steps = new ArrayList<>();
    private Boolean takesBytes;

    private SkippedValues() {}

    /** A reader that skips values of these schemas, one after the other; its result is null. */
    static SkippedValues of(List<Schema> schemas) {
        return of(schemas, new IdentityHashMap<>());
    }

    /** @param records the readers of records, which may contain themselves */
    private static SkippedValues of(List<Schema> schemas, Map<Schema, SkippedValues> records) {
        SkippedValues values = new SkippedValues();
        schemas.forEach(schema -> values.add(step(schema, records)));
        return values;
    }

    private void add(Step step) {
        Step last = steps.isEmpty() ? null : steps.get(steps.size() - 1);
        boolean isCounted = step.kind == Kind.NUMBERS || step.kind == Kind.BYTES;
        if (last != null && isCounted && last.kind == step.kind && last.count <= Integer.MAX_VALUE - step.count) {
            steps.set(steps.size() - 1, new Step(step.kind, last.count + step.count));
        } else {
            steps.add(step);
        }
    }

    private static Step step(Schema schema, Map<Schema, SkippedValues> records) {
        return switch (schema.getType()) {
            case NULL -> new Step(Kind.BYTES, 0);
            case BOOLEAN -> new Step(Kind.BOOLEAN, 1);
            case INT, LONG, ENUM -> new Step(Kind.NUMBERS, 1);
            case FLOAT -> new Step(Kind.BYTES, Float.BYTES);
            case DOUBLE -> new Step(Kind.BYTES, Double.BYTES);
            case FIXED -> new Step(Kind.BYTES, schema.getFixedSize());
            case STRING, BYTES -> new Step(Kind.WITH_LENGTH, 1);
            case UNION -> {
                SkippedValues[] branches = schema.getTypes().stream()
                        .map(type -> of(List.of(type), records))
                        .toArray(SkippedValues[]::new);
                yield new Step(Kind.UNION, 1, branches);
            }
            case RECORD -> new Step(Kind.RECORD, 1, recordOf(schema, records));
            case ARRAY -> new Step(Kind.BLOCKS, 1, of(List.of(schema.getElementType()), records));
            case MAP -> new Step(Kind.BLOCKS, 1, of(List.of(MAP_KEY, schema.getValueType()), records));
        };
    }

    private static SkippedValues recordOf(Schema schema, Map<Schema, SkippedValues> records) {
        SkippedValues known = records.get(schema);
        if (known != null) {
            return known;
        }
        SkippedValues fields = new SkippedValues();
        records.put(schema, fields);
        schema.getFields().forEach(field -> fields.add(step(field.schema(), records)));
        return fields;
    }

    @Override
    public Object read(AvroInput in) {
        skip(in, 0);
        return null;
    }

    private void skip(AvroInput in, int depth) {
        RecordBudget.checkDepth(depth);
        for (int i = 0; i < steps.size(); i++) {
            Step step = steps.get(i);
            switch (step.kind) {
                case NUMBERS -> in.skipNumbers(step.count);
                case BYTES -> in.skip(step.count);
                case WITH_LENGTH -> in.skip(in.readLength());
                case BOOLEAN -> in.readBoolean();
                case UNION -> step.values[in.readIndex(step.values.length)].skip(in, depth + 1);
                case RECORD -> step.values[0].skip(in, depth + 1);
                case BLOCKS -> skipBlocks(step.values[0], in, depth + 1);
            }
        }
    }

    private static void skipBlocks(SkippedValues item, AvroInput in, int depth) {
        boolean hasBytes = item.takesBytes(); // a record can claim any number of other items
        for (long count = in.readCount(); count > 0; count = in.readCount()) {
            for (long i = 0; hasBytes && i < count; i++) {
                item.skip(in, depth);
            }
        }
    }

    /** Whether all values together take a byte or more. */
    private boolean takesBytes() {
        if (takesBytes == null) {
            takesBytes = takesBytes(0); // a race is harmless: the result is the same
        }
        return takesBytes;
    }

    private boolean takesBytes(int depth) {
        return depth > RecordBudget.MAX_DEPTH // `skip` refuses a record that contains itself
                || steps.stream().anyMatch(step -> switch (step.kind) {
                    case BYTES -> step.count > 0;
                    case RECORD -> step.values[0].takesBytes(depth + 1);
                    default -> true;
                });
    }
}
