package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;

/**
 * Reads the fields of a record in the order of the writer, and stores each at its index in the reader's schema.
 *
 * @param readers of the fields; {@link SkippedValues} for adjacent fields that the reader's schema does not contain
 * @param indexes in the reader's schema; unused for skipped fields
 * @param fields the fields that each reader reads
 * @param defaults the values of fields that the writer's schema does not contain, by index
 */
record RecordReader(ValueReader[] readers, int[] indexes, List<List<Schema.Field>> fields, Object[] defaults)
        implements ValueReader {
    @Override
    public Object read(AvroInput in) {
        in.budget().takeFields(defaults.length);
        Object[] values = defaults.clone();
        int i = 0;
        int skippedFrom = 0;
        try {
            for (; i < readers.length; i++) {
                ValueReader reader = readers[i];
                if (reader instanceof PlainReader plain) {
                    values[indexes[i]] = plain.read(in);
                } else if (reader instanceof SkippedValues skipped) {
                    skippedFrom = in.position();
                    skipped.read(in);
                } else {
                    values[indexes[i]] = reader.read(in);
                }
            }
        } catch (MalformedRecordException error) {
            throw error.inField(failing(i, in, skippedFrom));
        }
        return new GenericInternalRow(values);
    }

    /** The name of the field at which a reader failed. Skipped fields are skipped again, one at a time. */
    private String failing(int index, AvroInput in, int skippedFrom) {
        List<Schema.Field> read = fields.get(index);
        Schema.Field last = read.get(read.size() - 1);
        if (read.size() > 1) {
            in.moveTo(skippedFrom);
            for (Schema.Field field : read) {
                try {
                    SkippedValues.of(List.of(field.schema())).read(in);
                } catch (MalformedRecordException error) {
                    return field.name();
                }
            }
        }
        return last.name();
    }
}
