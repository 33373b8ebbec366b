package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;

/**
 * Skips values that the reader schema does not contain, without creating an object. Adjacent values are one reader:
 * four numbers are one step, and so are two doubles.
 */
final class SkippedValues implements ValueReader {
    /** Limits the recursion. Real data is far below. */
    private static final int MAX_DEPTH = 500;

    private enum Kind {
        /** Integers of variable size. */
        NUMBERS,
        /** Values of fixed size. */
        BYTES,
        /** A value after its length. */
        WITH_LENGTH,
        BOOLEAN,
        /** A union of values of these kinds. */
        UNION,
        /** A value that the schema describes; it may be recursive. */
        OTHER
    }

    /** @param count of numbers, of bytes, or of the levels around another value */
    private record Step(Kind kind, int count, SkippedValues[] branches, Schema schema) {
        Step(Kind kind, int count) {
            this(kind, count, null, null);
        }
    }

    private final Step[] steps;

    private SkippedValues(List<Step> steps) {
        this.steps = steps.toArray(new Step[0]);
    }

    /** A reader that skips values of these schemas, one after the other; its result is null. */
    static SkippedValues of(List<Schema> schemas) {
        List<Step> steps = new ArrayList<>();
        for (Schema schema : schemas) {
            add(step(schema, 0), steps);
        }
        return new SkippedValues(steps);
    }

    private static void add(Step step, List<Step> to) {
        Step last = to.isEmpty() ? null : to.get(to.size() - 1);
        boolean isCounted = step.kind == Kind.NUMBERS || step.kind == Kind.BYTES;
        if (last != null && isCounted && last.kind == step.kind && last.count <= Integer.MAX_VALUE - step.count) {
            to.set(to.size() - 1, new Step(step.kind, last.count + step.count));
        } else {
            to.add(step);
        }
    }

    private static Step step(Schema schema, int depth) {
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
                        .map(type -> new SkippedValues(List.of(step(type, depth + 1))))
                        .toArray(SkippedValues[]::new);
                yield new Step(Kind.UNION, 0, branches, null);
            }
            case RECORD, ARRAY, MAP -> new Step(Kind.OTHER, depth, null, schema);
        };
    }

    @Override
    public Object read(AvroInput in) {
        for (Step step : steps) {
            switch (step.kind) {
                case NUMBERS -> in.skipNumbers(step.count);
                case BYTES -> in.skip(step.count);
                case WITH_LENGTH -> in.skip(in.readLength());
                case BOOLEAN -> in.readBoolean();
                case UNION -> step.branches[in.readIndex(step.branches.length)].read(in);
                case OTHER -> skip(step.schema, in, step.count);
            }
        }
        return null;
    }

    private static void skip(Schema schema, AvroInput in, int depth) {
        if (depth > MAX_DEPTH) {
            throw new MalformedRecordException("values are nested more than " + MAX_DEPTH + " levels deep");
        }
        switch (schema.getType()) {
            case NULL -> {}
            case BOOLEAN -> in.readBoolean();
            case INT, LONG, ENUM -> in.skipNumbers(1);
            case FLOAT -> in.skip(Float.BYTES);
            case DOUBLE -> in.skip(Double.BYTES);
            case STRING, BYTES -> in.skip(in.readLength());
            case FIXED -> in.skip(schema.getFixedSize());
            case UNION ->
                skip(schema.getTypes().get(in.readIndex(schema.getTypes().size())), in, depth + 1);
            case RECORD -> schema.getFields().forEach(field -> skip(field.schema(), in, depth + 1));
            case ARRAY -> skipItems(schema.getElementType(), false, in, depth + 1);
            case MAP -> skipItems(schema.getValueType(), true, in, depth + 1);
        }
    }

    private static void skipItems(Schema item, boolean keyed, AvroInput in, int depth) {
        for (int count = in.readCount(); count > 0; count = in.readCount()) {
            for (int i = 0; i < count; i++) {
                if (keyed) {
                    in.skip(in.readLength());
                }
                skip(item, in, depth);
            }
        }
    }
}
