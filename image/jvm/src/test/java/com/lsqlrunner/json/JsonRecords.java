package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;

/** Random JSON records, most of them nearly valid, for a struct with a field of each type. */
final class JsonRecords {
    static final StructType TYPE = new StructType()
            .add("id", DataTypes.LongType)
            .add("count", DataTypes.IntegerType)
            .add("speed", DataTypes.DoubleType)
            .add("name", DataTypes.StringType)
            .add("é", DataTypes.BooleanType)
            .add("at", place())
            .add("tags", DataTypes.createArrayType(DataTypes.StringType))
            .add("places", DataTypes.createArrayType(place()))
            .add("table", DataTypes.createArrayType(DataTypes.createArrayType(DataTypes.DoubleType)))
            .add("price", DataTypes.createDecimalType(8, 2))
            .add("total", DataTypes.createDecimalType(30, 4))
            .add("time", DataTypes.TimestampType)
            .add("day", DataTypes.DateType)
            .add("counts", DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType))
            .add("clock", new TimeType(TimeType.MICROS_PRECISION()));

    /** The type of structs with the text of all numbers that are doubles. */
    static final StructType WITH_TEXT = new StructType(Arrays.stream(TYPE.fields())
            .map(field -> switch (field.name()) {
                case "speed" -> DataTypes.createStructField(field.name(), DataTypes.StringType, true);
                case "table" ->
                    DataTypes.createStructField(
                            field.name(),
                            DataTypes.createArrayType(DataTypes.createArrayType(DataTypes.StringType)),
                            true);
                default -> field;
            })
            .toArray(StructField[]::new));

    private static StructType place() {
        return new StructType().add("x", DataTypes.LongType).add("place", DataTypes.StringType);
    }

    private static final String[] NAMES = {
        "id",
        "count",
        "speed",
        "name",
        "é",
        "at",
        "x",
        "other",
        "",
        "ID",
        "\\u0069d",
        "na\\u006de",
        "\\\"",
        "id ",
        "tags",
        "places",
        "table",
        "price",
        "total",
        "time",
        "day",
        "counts",
        "clock"
    };

    /** Values that mostly fit some of the fields. */
    private static final Map<String, String[]> VALUES_OF = Map.of(
            "tags",
            new String[] {
                "[]", "[ ]", "[\"a\" , null,\"é\"]", "[\"a\",]", "[\"\\n\"]", "[1]", "[\"a\"", "[,]", "\"a\"", "{}"
            },
            "places",
            new String[] {
                "[{}]",
                "[null,{\"x\":7}]",
                "[{\"x\":1,\"place\":\"p\"} , {\"z\":[]}]",
                "[[]]",
                "[{\"x\":\"1\"}]",
                "[{]",
                "{}"
            },
            "table",
            new String[] {"[[1,2.5],[]]", "[null,[null]]", "[[-0.0 ,1e3]]", "[[[]]]", "[1]", "[[1}]"},
            "price",
            new String[] {
                "1.5",
                "-1.50",
                "0",
                "-0",
                "-0.0",
                "0.00",
                "123456.78",
                "999999.99",
                "1000000",
                "1000000.00",
                "1.005",
                "1.995",
                "999999.995",
                "1e2",
                "\"1.5\"",
                "\"\"",
                "12.340",
                "NaN",
                "00.1",
                "1.",
                "true"
            },
            "total",
            new String[] {
                "1.5",
                "-1.5000",
                "0",
                "-0.0",
                "99999999999999.9999",
                "100000000000000",
                "99999999999999999999999999.9999",
                "1.00005",
                "1e-4",
                "\"2,5\"",
                "123456789012345678901234567890"
            },
            "time",
            new String[] {
                "\"2026-01-31T12:30:59Z\"",
                "\"2026-01-31 12:30:59\"",
                "\"2026-01-31T12:30:59.123456Z\"",
                "\"1969-12-31T23:59:59.999\"",
                "\"0001-01-01T00:00:00Z\"",
                "\"0000-01-01T00:00:00Z\"",
                "\"9999-12-31T23:59:59.999999Z\"",
                "\"2026-01-31T12:30:59.1234567Z\"",
                "\"2026-01-31T12:30:59.Z\"",
                "\"2026-02-29T00:00:00Z\"",
                "\"2024-02-29T00:00:00.5Z\"",
                "\"1900-02-29T00:00:00Z\"",
                "\"2026-01-31T24:00:00Z\"",
                "\"2026-01-31T12:60:00Z\"",
                "\"2026-01-31T12:30:60Z\"",
                "\"2026-13-01T00:00:00Z\"",
                "\"2026-01-31T12:30:59+01:00\"",
                "\"2026-01-31T12:30:59 UTC\"",
                "\"2026-01-31T12:30\"",
                "\"2026-01-31\"",
                "\"2026-1-3T1:2:3Z\"",
                "\"T12:30:59\"",
                "\"2026-01-31T12:30:59z\"",
                "\"2026-01-31t12:30:59Z\"",
                "\" 2026-01-31T12:30:59Z\"",
                "\"2026-01-31T12:30:59Z \"",
                "\"\"",
                "0",
                "-1",
                "1767225600",
                "999999999999",
                "9999999999999",
                "9223372036854775807",
                "1.5"
            },
            "day",
            new String[] {
                "\"2026-01-31\"", "\"1969-12-31\"", "\"0001-01-01\"", "\"0000-12-31\"", "\"9999-12-31\"",
                        "\"10000-01-01\"",
                "\"2026-02-29\"", "\"2000-02-29\"", "\"2026-00-10\"", "\"2026-10-00\"", "\"2026-1-3\"",
                        "\"2026-01-31T00:00:00Z\"",
                "\"+026-01-31\"", "\"\"", "20260131", "7"
            },
            "clock",
            new String[] {
                "\"12:30:59\"",
                "\"00:00:00.000001\"",
                "\"23:59:59.999999\"",
                "\"12:30:59.5\"",
                "\"12:30:59.1234567\"",
                "\"12:30:59.\"",
                "\"12:30\"",
                "\"12:30:5\"",
                "\"1:2:3\"",
                "\"24:00:00\"",
                "\"12:60:00\"",
                "\"12:30:60\"",
                "\"12:30:59Z\"",
                "\"12:30:59 PM\"",
                "\" 12:30:59\"",
                "\"2026-01-31T12:30:59\"",
                "\"-1:30:59\"",
                "\"\"",
                "0",
                "45059"
            },
            "counts",
            new String[] {
                "{}",
                "{ }",
                "{\"a\":1}",
                "{\"a\":1 , \"b\":null}",
                "{\"a\":1,\"a\":2}",
                "{\"\":0}",
                "{\"é\":5}",
                "{\"\\n\":1}",
                "{\"a\":1.5}",
                "{\"a\"}",
                "{\"a\":1,}",
                "[]"
            });

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
            String name = of(NAMES);
            String[] fitting = random.nextInt(4) == 0 ? VALUES : VALUES_OF.getOrDefault(name, VALUES);
            fields.add(space() + '"' + name + '"' + space() + ':' + space() + of(fitting) + space());
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
