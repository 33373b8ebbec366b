package com.lsqlrunner.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.VariantType;

/** Writes the value at an index of a row or an array as JSON, like Spark's generator. */
@FunctionalInterface
interface JsonValueWriter {
    byte[] TRUE = JsonOutput.utf8("true");
    byte[] FALSE = JsonOutput.utf8("false");
    byte[] NULL = JsonOutput.utf8("null");

    /**
     * Writes a value that is not null.
     *
     * @return false if only Spark's generator writes it
     */
    boolean write(JsonOutput out, SpecializedGetters from, int index);

    /**
     * A writer of values of a type; null for a type that only Spark's generator writes.
     *
     * @param declared the type of the values in JSON
     * @param type of the values: STRING instead of DOUBLE or LONG for numbers that are text, and instead of VARIANT for
     *     JSON; DECIMAL instead of LONG for numbers without zeros at their end
     */
    static JsonValueWriter of(DataType declared, DataType type) {
        if (JsonValueReader.isNumberAsText(declared, type)) {
            return (out, from, index) -> {
                out.writeNumber(from.getUTF8String(index));
                return true;
            };
        }
        if (JsonValueReader.isNumeric(declared, type)) {
            return numericWriter((DecimalType) type);
        }
        if (declared instanceof VariantType) {
            return (out, from, index) -> {
                out.write(from.getUTF8String(index).getBytes());
                return true;
            };
        }
        if (type instanceof StructType struct) {
            return JsonObjectWriter.fieldsOf((StructType) declared, struct);
        }
        if (type instanceof ArrayType array) {
            JsonValueWriter item = of(((ArrayType) declared).elementType(), array.elementType());
            return item == null ? null : (out, from, index) -> writeArray(out, from.getArray(index), item);
        }
        if (type instanceof MapType map) {
            JsonValueWriter item = DataTypes.StringType.equals(map.keyType())
                    ? of(((MapType) declared).valueType(), map.valueType())
                    : null;
            return item == null ? null : (out, from, index) -> writeMap(out, from.getMap(index), item);
        }
        if (type instanceof DecimalType decimal) {
            int precision = decimal.precision();
            int scale = decimal.scale();
            return (out, from, index) -> {
                out.write(JsonOutput.utf8(from.getDecimal(index, precision, scale)
                        .toJavaBigDecimal()
                        .toString()));
                return true;
            };
        }
        if (DataTypes.DateType.equals(type)) {
            return (out, from, index) -> out.writeDate(from.getInt(index));
        }
        if (DataTypes.TimestampType.equals(type)) {
            return (out, from, index) -> out.writeTimestamp(from.getLong(index));
        }
        if (type instanceof TimeType) {
            return (out, from, index) -> {
                out.writeTime(from.getLong(index));
                return true;
            };
        }
        return ofPlain(type);
    }

    private static JsonValueWriter numericWriter(DecimalType type) {
        int precision = type.precision();
        int scale = type.scale();
        BigInteger one = BigInteger.TEN.pow(scale);
        return (out, from, index) -> {
            BigDecimal value = from.getDecimal(index, precision, scale).toJavaBigDecimal();
            BigInteger[] parts = value.unscaledValue().divideAndRemainder(one);
            if (parts[1].signum() == 0 && parts[0].bitLength() < Long.SIZE) {
                out.writeLong(parts[0].longValue());
            } else {
                out.write(JsonOutput.utf8(value.stripTrailingZeros().toPlainString()));
            }
            return true;
        };
    }

    private static JsonValueWriter ofPlain(DataType type) {
        if (DataTypes.StringType.equals(type)) {
            return (out, from, index) -> {
                out.writeString(from.getUTF8String(index));
                return true;
            };
        }
        if (DataTypes.LongType.equals(type)) {
            return (out, from, index) -> {
                out.writeLong(from.getLong(index));
                return true;
            };
        }
        if (DataTypes.IntegerType.equals(type)) {
            return (out, from, index) -> {
                out.writeLong(from.getInt(index));
                return true;
            };
        }
        if (DataTypes.DoubleType.equals(type)) {
            return (out, from, index) -> {
                out.writeDouble(from.getDouble(index));
                return true;
            };
        }
        if (DataTypes.BooleanType.equals(type)) {
            return (out, from, index) -> {
                out.write(from.getBoolean(index) ? TRUE : FALSE);
                return true;
            };
        }
        return null;
    }

    /** Writes a value, or JSON's null. */
    private static boolean writeItem(JsonOutput out, ArrayData items, int index, JsonValueWriter item) {
        if (items.isNullAt(index)) {
            out.write(NULL);
            return true;
        }
        return item.write(out, items, index);
    }

    private static boolean writeArray(JsonOutput out, ArrayData items, JsonValueWriter item) {
        out.write('[');
        for (int i = 0; i < items.numElements(); i++) {
            if (i > 0) {
                out.write(',');
            }
            if (!writeItem(out, items, i, item)) {
                return false;
            }
        }
        out.write(']');
        return true;
    }

    private static boolean writeMap(JsonOutput out, MapData map, JsonValueWriter item) {
        ArrayData keys = map.keyArray();
        ArrayData values = map.valueArray();
        out.write('{');
        for (int i = 0; i < map.numElements(); i++) {
            if (i > 0) {
                out.write(',');
            }
            out.writeString(keys.getUTF8String(i));
            out.write(':');
            if (!writeItem(out, values, i, item)) {
                return false;
            }
        }
        out.write('}');
        return true;
    }
}
