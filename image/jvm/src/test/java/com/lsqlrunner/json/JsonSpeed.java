package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.lsqlrunner.speed.SpeedComparison;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Compares {@link JsonObjectReader} and {@link JsonObjectWriter} with Spark's parser and generator, on a record of
 * eight fields in 137 bytes, of which four are read, and on one with arrays, a decimal and a timestamp. Then it
 * compares numbers as text with numbers as doubles. Not a test: run it with the jars of Spark.
 */
final class JsonSpeed {
    private static final byte[] RECORD =
            ("{\"id\":123456789,\"user\":\"customer-4711\",\"speed\":17.25,\"fuel\":\"diesel\","
                            + "\"active\":true,\"tags\":[\"a\",\"b\"],\"at\":{\"x\":1.5,\"y\":2.5},\"note\":null}")
                    .getBytes(UTF_8);
    private static final StructType READ = new StructType()
            .add("id", DataTypes.LongType)
            .add("user", DataTypes.StringType)
            .add("speed", DataTypes.DoubleType)
            .add("active", DataTypes.BooleanType);

    private static final byte[] NESTED_RECORD =
            ("{\"id\":123456789,\"price\":1234.50,\"time\":\"2026-01-31T12:30:59.125Z\",\"tags\":[\"new\",\"web\"],"
                            + "\"items\":[{\"name\":\"bolt\",\"count\":3},{\"name\":\"nut\",\"count\":12}]}")
                    .getBytes(UTF_8);
    private static final StructType NESTED = new StructType()
            .add("id", DataTypes.LongType)
            .add("price", DataTypes.createDecimalType(10, 2))
            .add("time", DataTypes.TimestampType)
            .add("tags", DataTypes.createArrayType(DataTypes.StringType))
            .add(
                    "items",
                    DataTypes.createArrayType(
                            new StructType().add("name", DataTypes.StringType).add("count", DataTypes.LongType)));

    private static final byte[] NUMBERS_RECORD =
            "{\"name\":\"vessel\",\"lat\":54.0875,\"long\":10.1312,\"speed\":17.25,\"course\":271}".getBytes(UTF_8);
    private static final List<String> NUMBERS = List.of("lat", "long", "speed", "course");

    private JsonSpeed() {}

    public static void main(String[] arguments) throws Exception {
        compare("", READ, RECORD);
        compare(" arrays, decimal, timestamp", NESTED, NESTED_RECORD);
        compareNumbers();
    }

    private static StructType numbers(DataType kind) {
        StructType type = new StructType();
        for (String name : NUMBERS) {
            type = type.add(name, kind);
        }
        return type;
    }

    /** "Ours" are numbers as text, "library" numbers as doubles. */
    private static void compareNumbers() throws Exception {
        StructType doubles = numbers(DataTypes.DoubleType);
        StructType texts = numbers(DataTypes.StringType);
        BoundReference bytes = new BoundReference(0, DataTypes.BinaryType, true);
        DecodeJson readText = new DecodeJson(bytes, doubles, texts, false);
        DecodeJson readDouble = new DecodeJson(bytes, doubles);
        SpeedComparison.compare(
                "four numbers, read", () -> readText.call(NUMBERS_RECORD), () -> readDouble.call(NUMBERS_RECORD));
        SpeedComparison.compare(
                "four numbers, read, one converted",
                () -> Double.parseDouble(((InternalRow) readText.call(NUMBERS_RECORD))
                        .getUTF8String(0)
                        .toString()),
                () -> readDouble.call(NUMBERS_RECORD));
        InternalRow textRow = (InternalRow) readText.call(NUMBERS_RECORD);
        InternalRow doubleRow = (InternalRow) readDouble.call(NUMBERS_RECORD);
        EncodeJson writeText = new EncodeJson(new BoundReference(0, texts, true), doubles);
        EncodeJson writeDouble = new EncodeJson(new BoundReference(0, doubles, true));
        SpeedComparison.compare(
                "four numbers, write", () -> writeText.call(textRow), () -> writeDouble.call(doubleRow));
    }

    private static void compare(String name, StructType type, byte[] record) throws Exception {
        DecodeJson ours = new DecodeJson(new BoundReference(0, DataTypes.BinaryType, true), type);
        JsonRecordReader parser = new JsonRecordReader(type, type);
        SpeedComparison.compare("JSON, read" + name, () -> ours.call(record), () -> parser.read(record));
        InternalRow row = (InternalRow) ours.call(record);
        EncodeJson writer = new EncodeJson(new BoundReference(0, type, true));
        SparkJsonGenerator generator = new SparkJsonGenerator(type);
        SpeedComparison.compare("JSON, write" + name, () -> writer.call(row), () -> generator.write(row));
    }
}
