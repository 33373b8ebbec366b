package com.lsqlrunner.json;

import java.util.Arrays;
import java.util.function.BinaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.variant.VariantExpressionEvalUtils;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.types.UTF8String;

/** Converts JSON texts and exact numbers to VARIANT, because Spark's generator would change them. */
final class JsonVariants {
    private JsonVariants() {}

    /** The type in JSON with VARIANT also for numbers that need not be whole. */
    static DataType generated(DataType declared, DataType type) {
        return replaced(
                declared,
                type,
                (kind, inSpark) -> DataTypes.LongType.equals(kind) && !DataTypes.LongType.equals(inSpark)
                        ? DataTypes.VariantType
                        : kind);
    }

    /** The type of the values of {@link #converter}. */
    static DataType type(DataType declared, DataType type) {
        return replaced(declared, type, (kind, inSpark) -> kind instanceof VariantType ? kind : inSpark);
    }

    /** A type whose scalars are pairs of the scalars of both types. */
    private static DataType replaced(DataType declared, DataType type, BinaryOperator<DataType> scalar) {
        if (declared instanceof VariantType) {
            return declared;
        }
        if (type instanceof StructType struct) {
            StructField[] fields = struct.fields();
            return new StructType(IntStream.range(0, fields.length)
                    .mapToObj(i -> new StructField(
                            fields[i].name(),
                            replaced(((StructType) declared).fields()[i].dataType(), fields[i].dataType(), scalar),
                            fields[i].nullable(),
                            fields[i].metadata()))
                    .toArray(StructField[]::new));
        }
        if (type instanceof ArrayType array) {
            DataType element = replaced(((ArrayType) declared).elementType(), array.elementType(), scalar);
            return new ArrayType(element, array.containsNull());
        }
        if (type instanceof MapType map) {
            DataType value = replaced(((MapType) declared).valueType(), map.valueType(), scalar);
            return new MapType(map.keyType(), value, map.valueContainsNull());
        }
        return scalar.apply(declared, type);
    }

    /**
     * Converts values, which may be null.
     *
     * @param declared the type of the values in JSON
     * @param type of the values: STRING or DECIMAL instead of VARIANT
     */
    static UnaryOperator<Object> converter(DataType declared, DataType type) {
        if (type(declared, type).equals(type)) {
            return value -> value;
        }
        UnaryOperator<Object> convert = notNull(declared, type);
        return value -> value == null ? null : convert.apply(value);
    }

    private static UnaryOperator<Object> notNull(DataType declared, DataType type) {
        if (type instanceof StructType struct) {
            return ofStruct((StructType) declared, struct);
        }
        if (type instanceof ArrayType array) {
            return items(((ArrayType) declared).elementType(), array.elementType());
        }
        if (type instanceof MapType map) {
            UnaryOperator<Object> values = items(((MapType) declared).valueType(), map.valueType());
            return entries -> new ArrayBasedMapData(
                    ((MapData) entries).keyArray(), (ArrayData) values.apply(((MapData) entries).valueArray()));
        }
        return value -> VariantExpressionEvalUtils.parseJson(jsonOf(value), true, true, true);
    }

    private static UTF8String jsonOf(Object value) {
        return value instanceof Decimal number
                ? UTF8String.fromString(
                        number.toJavaBigDecimal().stripTrailingZeros().toPlainString())
                : (UTF8String) value;
    }

    private static UnaryOperator<Object> ofStruct(StructType declared, StructType type) {
        DataType[] kinds =
                Arrays.stream(type.fields()).map(StructField::dataType).toArray(DataType[]::new);
        @SuppressWarnings({"unchecked", "rawtypes"})
        UnaryOperator<Object>[] fields = IntStream.range(0, kinds.length)
                .mapToObj(i -> converter(declared.fields()[i].dataType(), kinds[i]))
                .toArray(UnaryOperator[]::new);
        return row -> {
            Object[] values = new Object[kinds.length];
            for (int i = 0; i < kinds.length; i++) {
                values[i] = fields[i].apply(((InternalRow) row).get(i, kinds[i]));
            }
            return new GenericInternalRow(values);
        };
    }

    private static UnaryOperator<Object> items(DataType declared, DataType type) {
        UnaryOperator<Object> convert = converter(declared, type);
        return array -> {
            Object[] values = ((ArrayData) array).toObjectArray(type);
            return new GenericArrayData(Arrays.stream(values).map(convert).toArray());
        };
    }
}
