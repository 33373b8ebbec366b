package com.lsqlrunner.function;

import com.lsqlrunner.errors.ShownValue;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.jdk.javaapi.CollectionConverters;

/** Converts the result of a function to a value of Spark, and checks that it has exactly the declared type. */
@FunctionalInterface
interface ResultConverter {
    /**
     * Converts a value that is not null.
     *
     * @param path of the value inside the result, as {@code .total} or {@code [2]}; empty for the result itself
     */
    Object convert(Object value, String path) throws InvalidResultException;

    /** Converts a result that is not null. */
    default Object convert(Object value) throws InvalidResultException {
        return convert(value, "");
    }

    /** The converter of a type, in which fields and elements that are not nullable must not be null. */
    static ResultConverter of(DataType type) {
        if (type instanceof ArrayType array) {
            return ofArray(array);
        }
        if (type instanceof MapType map) {
            return ofMap(map);
        }
        if (type instanceof StructType struct) {
            return ofStruct(struct);
        }
        return (value, path) -> scalar(value, type, path);
    }

    private static Object scalar(Object value, DataType type, String path) throws InvalidResultException {
        if (type instanceof DecimalType decimal && value instanceof BigDecimal number) {
            return decimal(number, decimal, path);
        }
        Object converted =
                switch (type.typeName()) {
                    case "integer" -> value instanceof Integer ? value : null;
                    case "long" -> value instanceof Long ? value : null;
                    case "float" -> value instanceof Float ? value : null;
                    case "double" -> value instanceof Double ? value : null;
                    case "boolean" -> value instanceof Boolean ? value : null;
                    case "string" -> value instanceof String text ? UTF8String.fromString(text) : null;
                    case "binary" -> value instanceof byte[] bytes ? bytes.clone() : null;
                    case "date" -> days(value);
                    case "timestamp" -> micros(value);
                    default -> value instanceof LocalTime time ? nanos(time) : null;
                };
        if (converted == null) {
            throw mismatch(value, type, path);
        }
        return converted;
    }

    private static Object nanos(LocalTime time) {
        return time.truncatedTo(ChronoUnit.MICROS).toNanoOfDay();
    }

    private static Object days(Object value) {
        if (value instanceof Date date) {
            return DateTimeUtils.localDateToDays(date.toLocalDate());
        }
        return value instanceof LocalDate date ? DateTimeUtils.localDateToDays(date) : null;
    }

    private static Object micros(Object value) {
        if (value instanceof Timestamp time) {
            return DateTimeUtils.instantToMicros(time.toInstant());
        }
        return value instanceof Instant time ? DateTimeUtils.instantToMicros(time) : null;
    }

    private static Object decimal(BigDecimal value, DecimalType type, String path) throws InvalidResultException {
        BigDecimal rounded = value.setScale(type.scale(), RoundingMode.HALF_UP); // as CAST does
        if (rounded.precision() > type.precision()) {
            throw new InvalidResultException(path, "returns a number that is too large for " + type.simpleString());
        }
        return Decimal.apply(rounded, type.precision(), type.scale());
    }

    private static ResultConverter ofArray(ArrayType type) {
        ResultConverter element = of(type.elementType());
        return (value, path) -> {
            List<?> items = items(value);
            if (items == null) {
                throw mismatch(value, type, path);
            }
            Object[] converted = new Object[items.size()];
            for (int index = 0; index < converted.length; index++) {
                converted[index] = inner(items.get(index), element, type.containsNull(), path + "[" + index + "]");
            }
            return new GenericArrayData(converted);
        };
    }

    private static List<?> items(Object value) {
        if (value instanceof Object[] array) {
            return Arrays.asList(array);
        }
        if (value instanceof scala.collection.Seq<?> sequence) {
            return CollectionConverters.asJava(sequence);
        }
        return value instanceof List<?> list ? list : null;
    }

    private static ResultConverter ofMap(MapType type) {
        ResultConverter item = of(type.valueType());
        return (value, path) -> {
            Map<?, ?> map = value instanceof scala.collection.Map<?, ?> scala
                    ? CollectionConverters.asJava(scala)
                    : value instanceof Map<?, ?> java ? java : null;
            if (map == null) {
                throw mismatch(value, type, path);
            }
            List<Object> keys = new ArrayList<>();
            List<Object> values = new ArrayList<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                if (!(entry.getKey() instanceof String key)) {
                    throw new InvalidResultException(path, "returns a map with a key that is not a text");
                }
                keys.add(UTF8String.fromString(key));
                values.add(inner(
                        entry.getValue(), item, type.valueContainsNull(), path + "." + ShownValue.choose(key, "*")));
            }
            return new ArrayBasedMapData(new GenericArrayData(keys.toArray()), new GenericArrayData(values.toArray()));
        };
    }

    private static ResultConverter ofStruct(StructType type) {
        List<ResultConverter> fields = new ArrayList<>();
        for (int index = 0; index < type.size(); index++) {
            fields.add(of(type.apply(index).dataType()));
        }
        return (value, path) -> {
            if (!(value instanceof Row row)) {
                throw mismatch(value, type, path);
            }
            if (row.size() != fields.size()) {
                throw new InvalidResultException(
                        path,
                        "returns a row with %d values, and the type has %d fields"
                                .formatted(row.size(), fields.size()));
            }
            Object[] values = new Object[fields.size()];
            for (int index = 0; index < values.length; index++) {
                String inside = path + "." + type.apply(index).name();
                values[index] = inner(
                        row.get(index), fields.get(index), type.apply(index).nullable(), inside);
            }
            return new GenericInternalRow(values);
        };
    }

    private static Object inner(Object value, ResultConverter converter, boolean nullable, String path)
            throws InvalidResultException {
        if (value == null) {
            if (!nullable) {
                throw new InvalidResultException(path, "returns null where its result is declared as not null");
            }
            return null;
        }
        return converter.convert(value, path);
    }

    private static InvalidResultException mismatch(Object value, DataType type, String path) {
        return new InvalidResultException(
                path,
                "returns an object of the class %s where the type is %s"
                        .formatted(value.getClass().getName(), TypeNames.of(type)));
    }
}
