package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

    private static final long FIRST_SECOND = LocalDate.of(1, 1, 1).toEpochDay() * 86_400;
    private static final long LAST_SECOND = LocalDate.of(10_000, 1, 1).toEpochDay() * 86_400 - 1;

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
                    orNull(place()),
                    orNull(array(() -> orNull(text()))),
                    orNull(array(() -> orNull(place()))),
                    orNull(array(() -> orNull(array(() -> orNull(number()))))),
                    orNull(decimal(8, 2)),
                    orNull(decimal(30, 4)),
                    orNull(random.nextLong(FIRST_SECOND, LAST_SECOND) * 1_000_000 + random.nextInt(1_000_000)),
                    orNull((int) (random.nextLong(FIRST_SECOND, LAST_SECOND) / 86_400)),
                    orNull(new ArrayBasedMapData(array(this::text, 2), array(() -> orNull(random.nextLong()), 2))),
                    orNull(timeOfDay()));

            assertArrayEquals(generator.write(row), writer.write(row), row::toString);
        }
    }

    @Test
    void writesDoublesAsJavaDoes() {
        for (int i = 0; i < 1_000_000; i++) {
            double value = number();

            assertEquals("{\"d\":" + value + "}", written("d", DataTypes.DoubleType, value));
        }
    }

    @Test
    void writesLongsAsJavaDoes() {
        for (int i = 0; i < 100_000; i++) {
            long value = random.nextLong() >> random.nextInt(64);

            assertEquals("{\"l\":" + value + "}", written("l", DataTypes.LongType, value));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-0", "55", "10.0", "1e3", "-12345678901234567890.0123456789"})
    void writesTheTextOfNumbers(String number) {
        assertEquals("{\"d\":" + number + "}", writtenText(number));
    }

    /** The result of an expression may be one of these, or a number that Spark's parser accepts as text. */
    @ParameterizedTest
    @ValueSource(strings = {"NaN", "Infinity", "-Infinity", "-INF"})
    void writesTextThatIsNoNumberInQuotes(String text) {
        assertEquals("{\"d\":\"" + text + "\"}", writtenText(text));
    }

    private String writtenText(String number) {
        StructType declared = new StructType().add("d", DataTypes.DoubleType);
        StructType type = new StructType().add("d", DataTypes.StringType);
        JsonObjectWriter texts = JsonObjectWriter.of(declared, type);
        return new String(texts.write(struct(UTF8String.fromString(number))), UTF_8);
    }

    @Test
    void yearsThatHaveNotFourDigitsAreLeftToSpark() {
        long afterLast = 1 + LAST_SECOND;
        for (long second : new long[] {FIRST_SECOND - 1, afterLast}) {
            assertNull(JsonObjectWriter.of(new StructType().add("t", DataTypes.TimestampType))
                    .write(struct(second * 1_000_000)));
            assertNull(JsonObjectWriter.of(new StructType().add("d", DataTypes.DateType))
                    .write(struct((int) Math.floorDiv(second, 86_400L))));
        }
    }

    private String written(String name, DataType type, Object value) {
        return new String(JsonObjectWriter.of(new StructType().add(name, type)).write(struct(value)), UTF_8);
    }

    private Object place() {
        return struct(orNull(random.nextLong()), orNull(text()));
    }

    /** A double: a decimal number with few digits, or next to one, or any. */
    private double number() {
        double few =
                random.nextInt(2_000_000) / Math.pow(10, random.nextInt(12)) - (random.nextBoolean() ? 0 : 100_000);
        return switch (random.nextInt(6)) {
            case 0 -> Math.nextUp(few);
            case 1 -> random.nextGaussian();
            case 2 -> (random.nextLong() >> random.nextInt(64)) / 1e9;
            default -> few;
        };
    }

    /** A time of day in nanoseconds, with up to six digits after the second. */
    private Object timeOfDay() {
        long unit = (long) Math.pow(10, 9 - random.nextInt(7));
        return random.nextLong(86_400_000_000_000L / unit) * unit;
    }

    private Decimal decimal(int precision, int scale) {
        BigInteger digits = new BigInteger(random.nextInt(precision * 3), random);
        return Decimal.apply(new BigDecimal(random.nextBoolean() ? digits : digits.negate(), scale), precision, scale);
    }

    private GenericArrayData array(Supplier<Object> item) {
        return array(item, random.nextInt(4));
    }

    private GenericArrayData array(Supplier<Object> item, int count) {
        return new GenericArrayData(Stream.generate(item).limit(count).toArray());
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
        assertNull(JsonObjectWriter.of(new StructType().add("bytes", DataTypes.BinaryType)));
        assertNull(JsonObjectWriter.of(new StructType().add("list", DataTypes.createArrayType(DataTypes.FloatType))));
        assertNull(JsonObjectWriter.of(new StructType()));
    }
}
