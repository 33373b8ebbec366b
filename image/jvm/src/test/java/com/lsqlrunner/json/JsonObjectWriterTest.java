package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class JsonObjectWriterTest {
    private static final StructType TYPE = JsonRecords.TYPE;
    private static final long[] LONGS = {0, 1, -1, 10, Long.MAX_VALUE, Long.MIN_VALUE};
    private static final double[] DOUBLES = {
        0,
        -0.0,
        1,
        0.1,
        1e7,
        1e-5,
        123456789.25,
        Double.MAX_VALUE,
        Double.MIN_VALUE,
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY
    };

    private final JsonObjectWriter writer = JsonObjectWriter.of(TYPE);
    private final SparkJsonGenerator generator = new SparkJsonGenerator(TYPE);
    private final Random random = new Random(20261123);

    private InternalRow struct(Object... values) {
        return new GenericInternalRow(values);
    }

    private UTF8String text() {
        byte[] bytes = new byte[random.nextInt(300)];
        if (random.nextBoolean()) {
            random.nextBytes(bytes); // mostly not UTF-8
            return UTF8String.fromBytes(bytes);
        }
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(20); i > 0; i--) {
            text.appendCodePoint("a \"\\/\u0000\u001f\u007f\n\t\bé€\u2028\uffff😀".codePointAt(random.nextInt(16)));
        }
        return UTF8String.fromString(text.toString());
    }

    private Object orNull(Object value) {
        return random.nextInt(5) == 0 ? null : value;
    }

    @Test
    void writesTheBytesOfSpark() {
        for (int i = 0; i < 50_000; i++) {
            InternalRow row = struct(
                    orNull(LONGS[random.nextInt(LONGS.length)]),
                    orNull(random.nextInt()),
                    orNull(random.nextBoolean() ? random.nextGaussian() : DOUBLES[random.nextInt(DOUBLES.length)]),
                    orNull(text()),
                    orNull(random.nextBoolean()),
                    orNull(struct(orNull(random.nextLong()), orNull(text()))));

            assertArrayEquals(generator.write(row), writer.write(row), row::toString);
        }
    }

    @Test
    void escapesNamesOfFields() {
        StructType type = new StructType().add("a\"\\\nü", DataTypes.LongType);
        byte[] expected = new SparkJsonGenerator(type).write(struct(1L));

        assertEquals("{\"a\\\"\\\\\\nü\":1}", new String(expected, UTF_8));
        assertArrayEquals(expected, JsonObjectWriter.of(type).write(struct(1L)));
    }

    @Test
    void aStructWithAnotherTypeIsLeftToSpark() {
        assertNull(JsonObjectWriter.of(new StructType().add("day", DataTypes.DateType)));
        assertNull(JsonObjectWriter.of(new StructType()));
    }
}
