package com.lsqlrunner.function;

import java.sql.Date;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampType;
import scala.collection.mutable.ArraySeq;
import scala.jdk.javaapi.CollectionConverters;

/** Converts a value of Spark to the Java object that a function's class receives, as Spark does for its own UDFs. */
@FunctionalInterface
interface ArgumentConverter {
    /** Converts a value that is not null. */
    Object convert(Object value);

    /**
     * The converter of a type.
     *
     * @param wanted the class that receives the value: {@link LocalDate}, {@link Instant}, {@link List} and {@link Map}
     *     are passed only to parameters of these classes; other parameters get the same objects as from Spark
     */
    static ArgumentConverter of(DataType type, Class<?> wanted) {
        if (type instanceof StringType) {
            return Object::toString;
        }
        if (type instanceof DecimalType) {
            return value -> ((Decimal) value).toJavaBigDecimal();
        }
        if (type instanceof BinaryType) {
            return value -> ((byte[]) value).clone(); // a function may change its argument
        }
        if (type instanceof DateType) {
            return wanted == LocalDate.class
                    ? value -> LocalDate.ofEpochDay((Integer) value)
                    : value -> Date.valueOf(LocalDate.ofEpochDay((Integer) value));
        }
        if (type instanceof TimestampType) {
            return wanted == Instant.class
                    ? value -> DateTimeUtils.microsToInstant((Long) value)
                    : value -> Timestamp.from(DateTimeUtils.microsToInstant((Long) value));
        }
        if (type instanceof TimeType) {
            return value -> LocalTime.ofNanoOfDay((Long) value);
        }
        return ofCollection(type, wanted == List.class || wanted == Map.class);
    }

    private static ArgumentConverter ofCollection(DataType type, boolean asJava) {
        Class<?> inner = asJava ? List.class : Object.class;
        if (type instanceof ArrayType array) {
            ArgumentConverter element = of(array.elementType(), inner);
            return value -> {
                List<Object> items = items((ArrayData) value, array.elementType(), element);
                return asJava ? items : ArraySeq.make(items.toArray());
            };
        }
        if (type instanceof MapType map) {
            ArgumentConverter key = of(map.keyType(), inner);
            ArgumentConverter item = of(map.valueType(), inner);
            return value -> {
                Map<Object, Object> entries = entries((MapData) value, map, key, item);
                return asJava ? entries : scala.collection.immutable.Map.from(CollectionConverters.asScala(entries));
            };
        }
        if (type instanceof StructType struct) {
            return ofStruct(struct);
        }
        return value -> value;
    }

    private static ArgumentConverter ofStruct(StructType struct) {
        List<ArgumentConverter> fields = new ArrayList<>();
        for (int index = 0; index < struct.size(); index++) {
            fields.add(of(struct.apply(index).dataType(), Object.class));
        }
        return value -> {
            InternalRow row = (InternalRow) value;
            Object[] values = new Object[fields.size()];
            for (int index = 0; index < values.length; index++) {
                Object field = row.isNullAt(index)
                        ? null
                        : row.get(index, struct.apply(index).dataType());
                values[index] = field == null ? null : fields.get(index).convert(field);
            }
            return new GenericRowWithSchema(values, struct);
        };
    }

    private static List<Object> items(ArrayData array, DataType type, ArgumentConverter element) {
        List<Object> items = new ArrayList<>(array.numElements());
        for (int index = 0; index < array.numElements(); index++) {
            items.add(array.isNullAt(index) ? null : element.convert(array.get(index, type)));
        }
        return items;
    }

    private static Map<Object, Object> entries(
            MapData map, MapType type, ArgumentConverter key, ArgumentConverter value) {
        List<Object> keys = items(map.keyArray(), type.keyType(), key);
        List<Object> values = items(map.valueArray(), type.valueType(), value);
        Map<Object, Object> entries = new LinkedHashMap<>();
        for (int index = 0; index < keys.size(); index++) {
            entries.put(keys.get(index), values.get(index));
        }
        return entries;
    }
}
