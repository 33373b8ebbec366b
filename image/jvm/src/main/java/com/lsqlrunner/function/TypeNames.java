package com.lsqlrunner.function;

import org.apache.spark.sql.types.DataType;

/** The names that the language has for types of Spark. */
final class TypeNames {
    private TypeNames() {}

    /** The name of a type, for messages: {@code int}, {@code decimal(10,2)}, {@code array}. */
    static String of(DataType type) {
        return switch (type.typeName()) {
            case "integer" -> "int";
            case "long" -> "long";
            case "binary" -> "bytes";
            case "array", "map", "struct" -> type.typeName();
            default -> type.typeName().startsWith("time(") ? "time" : type.typeName();
        };
    }
}
