package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.avro.Schema;

/** Skips values that the reader schema does not contain. Their schema may be recursive. */
final class SkippingReaders {
    /** Limits the recursion. Real data is far below. */
    private static final int MAX_DEPTH = 500;

    private SkippingReaders() {}

    static ValueReader of(Schema writer) {
        return in -> {
            skip(writer, in, 0);
            return null;
        };
    }

    private static void skip(Schema schema, AvroInput in, int depth) {
        if (depth > MAX_DEPTH) {
            throw new MalformedRecordException("values are nested more than " + MAX_DEPTH + " levels deep");
        }
        switch (schema.getType()) {
            case NULL -> {}
            case BOOLEAN -> in.readBoolean();
            case INT, LONG, ENUM -> in.readLong();
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
