package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.lsqlrunner.speed.SpeedComparison;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Compares {@link JsonObjectReader} and {@link JsonObjectWriter} with Spark's parser and generator, on a record of
 * eight fields in 137 bytes, of which four are read. Not a test: run it with the jars of Spark.
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

    private JsonSpeed() {}

    public static void main(String[] arguments) throws Exception {
        JsonObjectReader reader = JsonObjectReader.of(READ);
        SparkJsonParser parser = new SparkJsonParser(READ);
        SpeedComparison.compare("JSON, read", () -> reader.read(RECORD), () -> parser.parse(RECORD));
        InternalRow row = reader.read(RECORD);
        JsonObjectWriter writer = JsonObjectWriter.of(READ);
        SparkJsonGenerator generator = new SparkJsonGenerator(READ);
        SpeedComparison.compare("JSON, write", () -> writer.write(row), () -> generator.write(row));
    }
}
