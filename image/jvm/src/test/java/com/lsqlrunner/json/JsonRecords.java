package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Random JSON records, most of them nearly valid, for a struct with a field of each scalar type and a nested struct.
 */
final class JsonRecords {
    static final StructType TYPE = new StructType()
            .add("id", DataTypes.LongType)
            .add("count", DataTypes.IntegerType)
            .add("speed", DataTypes.DoubleType)
            .add("name", DataTypes.StringType)
            .add("é", DataTypes.BooleanType)
            .add("at", new StructType().add("x", DataTypes.LongType).add("place", DataTypes.StringType));

    private static final String[] NAMES = {
        "id", "count", "speed", "name", "é", "at", "x", "other", "", "ID", "\\u0069d", "na\\u006de", "\\\"", "id "
    };
    private static final String[] VALUES = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "7",
        "-7",
        "007",
        "1.5",
        "-0.0",
        "10.0",
        "1e3",
        "1E-3",
        "1.5e+2",
        "0.1",
        "123456789",
        "2147483647",
        "2147483648",
        "-2147483648",
        "-2147483649",
        "999999999999999999",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "123456789012345.6",
        "0.123456789012345",
        "0.1234567890123456",
        "1234567890123456789012345678901234567890",
        "1.7976931348623157e309",
        "NaN",
        "Infinity",
        "-",
        "+1",
        ".5",
        "5.",
        "1e",
        "0x1f",
        "tru",
        "nul",
        "nullx",
        "True",
        "\"\"",
        "\"a\"",
        "\"Zürich\"",
        "\"😀\"",
        "\"a\\\"b\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"7\"",
        "\"NaN\"",
        "\"true\"",
        "\"tab\t\"",
        "\"new\nline\"",
        "\"open",
        "{}",
        "[]",
        "[1,2]",
        "[1,]",
        "[{\"x\":1}]",
        "{\"x\":1}",
        "{\"x\":1,\"place\":\"p\"}",
        "{\"x\":\"1\"}",
        "{\"x\":1,\"x\":2}",
        "{\"place\":[1]}",
        "{\"y\":{\"z\":[[]]}}",
        "{\"x\":1",
        "'a'",
        "// c\n1",
        "",
        ","
    };
    private static final String[] SPACES = {"", "", "", "", " ", "\n", "\t ", "\r\n", "\f", "\u00a0"};

    private final Random random;

    JsonRecords(long seed) {
        random = new Random(seed);
    }

    /** One record. A third of them have changed bytes; a tenth end early or have text after the object. */
    byte[] next() {
        List<String> fields = new ArrayList<>();
        int count = random.nextInt(8);
        for (int i = 0; i < count; i++) {
            fields.add(space() + '"' + of(NAMES) + '"' + space() + ':' + space() + of(VALUES) + space());
        }
        String end = random.nextInt(20) == 0 ? of(VALUES) : "";
        byte[] record = (space() + '{' + String.join(",", fields) + space() + '}' + space() + end).getBytes(UTF_8);
        if (random.nextInt(20) == 0) {
            record = Arrays.copyOf(record, random.nextInt(record.length + 1));
        }
        if (random.nextInt(3) == 0 && record.length > 0) {
            for (int changes = random.nextInt(3); changes >= 0; changes--) {
                record[random.nextInt(record.length)] = (byte) random.nextInt(256);
            }
        }
        return record;
    }

    private String of(String[] texts) {
        return texts[random.nextInt(texts.length)];
    }

    private String space() {
        return random.nextInt(4) == 0 ? of(SPACES) : "";
    }
}
