package com.lsqlrunner.json;

import java.io.CharArrayWriter;
import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonGenerator;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Map;

/** Spark's generator of JSON objects, with all null fields. */
final class SparkJsonGenerator {
    private static final String MILLISECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";

    private final CharArrayWriter text = new CharArrayWriter();
    private final JacksonGenerator generator;

    SparkJsonGenerator(StructType type) {
        Map<String, String> options = new Map.Map2<>("ignoreNullFields", "false", "timestampFormat", MILLISECONDS);
        generator = new JacksonGenerator(type, text, new JSONOptions(options, "UTC", ""));
    }

    /** The JSON object of a struct, in UTF-8. */
    byte[] write(InternalRow struct) {
        generator.write(struct);
        generator.flush();
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        text.reset();
        return bytes;
    }
}
