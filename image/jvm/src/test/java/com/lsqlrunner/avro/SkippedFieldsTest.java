package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.util.RandomData;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

/** Fields that a reader does not have: random schemas and records, of which a random part of the fields is read. */
final class SkippedFieldsTest {
    private static final String[] TYPES = {
        "\"boolean\"",
        "\"int\"",
        "\"long\"",
        "\"float\"",
        "\"double\"",
        "\"string\"",
        "\"bytes\"",
        "[\"null\",\"long\"]",
        "[\"null\",\"string\"]",
        "[\"double\",\"boolean\",\"null\"]",
        "{\"type\":\"array\",\"items\":\"int\"}",
        "{\"type\":\"map\",\"values\":[\"null\",\"double\"]}",
        "[\"null\",{\"type\":\"array\",\"items\":\"string\"}]"
    };

    private final Random random = new Random(20261123);

    @Test
    void theFieldsThatAreReadHaveTheSameValuesAsWithoutSkipping() {
        for (int i = 0; i < 2_000; i++) {
            Schema writer = schema(1 + random.nextInt(12));
            Schema reader = part(writer);
            for (Object value : new RandomData(writer, 3, random.nextLong())) {
                byte[] record = Records.bytes(Records.ID, writer, value);

                assertEquals(
                        fields(writer, reader, record),
                        Records.shown(Records.decoded(writer, reader, record)),
                        () -> writer + " as " + reader);
            }
        }
    }

    @Test
    void aRecordThatEndsEarlyIsMalformed() {
        for (int i = 0; i < 300; i++) {
            Schema writer = schema(1 + random.nextInt(8));
            Schema reader = part(writer);
            Object value =
                    new RandomData(writer, 1, random.nextLong()).iterator().next();
            byte[] record = Records.bytes(Records.ID, writer, value);
            for (int length = RecordDecoder.HEADER_BYTES; length < record.length; length++) {
                byte[] cut = Arrays.copyOf(record, length);

                assertThrows(MalformedRecordException.class, () -> Records.decoded(writer, reader, cut));
            }
        }
    }

    private Schema schema(int count) {
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            fields.add(Records.field("f" + i, TYPES[random.nextInt(TYPES.length)]));
        }
        return Records.record(fields.toArray(new String[0]));
    }

    private Schema part(Schema writer) {
        return Records.record(writer.getFields().stream()
                .filter(field -> random.nextInt(3) == 0)
                .map(field -> Records.field(field.name(), field.schema().toString()))
                .toArray(String[]::new));
    }

    /** The fields of the reader, of the record that is read with all its fields. */
    private static String fields(Schema writer, Schema reader, byte[] record) {
        InternalRow all = (InternalRow) Records.decoded(writer, writer, record);
        StructType type = (StructType) CatalystTypes.of(writer);
        Object[] values = reader.getFields().stream()
                .map(field -> {
                    int index = type.fieldIndex(field.name());
                    return all.isNullAt(index)
                            ? null
                            : all.get(index, type.apply(index).dataType());
                })
                .toArray();
        return Records.shown(new GenericInternalRow(values));
    }
}
