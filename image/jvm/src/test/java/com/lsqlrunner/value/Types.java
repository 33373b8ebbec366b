package com.lsqlrunner.value;

import java.util.Arrays;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;

/** Types for tests, without Spark's type parser. */
public final class Types {
    private Types() {}

    /** A struct of alternating names and types. */
    public static StructType struct(Object... fields) {
        StructType type = new StructType();
        for (int i = 0; i < fields.length; i += 2) {
            type = type.add((String) fields[i], (DataType) fields[i + 1], true);
        }
        return type;
    }

    public static DataType array(DataType element) {
        return DataTypes.createArrayType(element, true);
    }

    /** A type by its name in LSQL. */
    public static DataType named(String name) {
        return switch (name) {
            case "int" -> DataTypes.IntegerType;
            case "long" -> DataTypes.LongType;
            case "float" -> DataTypes.FloatType;
            case "double" -> DataTypes.DoubleType;
            case "string" -> DataTypes.StringType;
            case "boolean" -> DataTypes.BooleanType;
            case "date" -> DataTypes.DateType;
            case "timestamp" -> DataTypes.TimestampType;
            case "time" -> new TimeType(TimeType.MICROS_PRECISION());
            default -> {
                int[] digits = Arrays.stream(name.replaceAll("[^0-9,]", "").split(","))
                        .mapToInt(Integer::parseInt)
                        .toArray();
                yield DataTypes.createDecimalType(digits[0], digits[1]);
            }
        };
    }
}
