package com.lsqlrunner.json;

import static com.lsqlrunner.json.JsonScanner.NOT_READ;
import static com.lsqlrunner.json.JsonScanner.UNRECOGNIZED;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.types.UTF8String;

/** Reads values of one type as {@link JsonRecordReader} would; the result is NOT_READ if only that class can decide. */
final class JsonValueReader {
    private enum Kind {
        STRING,
        BOOLEAN,
        INT,
        LONG,
        DOUBLE,
        /** A number as text. */
        NUMBER,
        /** Any value, as its JSON text. */
        JSON,
        DECIMAL,
        DATE,
        TIME,
        TIMESTAMP,
        ARRAY,
        MAP,
        STRUCT
    }

    private final JsonScanner scanner;
    private final JsonNumbers numbers;
    private final Kind kind;
    private final JsonObjectReader struct;
    /** The reader of the elements of an array, or of the values of a map. */
    private final JsonValueReader items;

    private final int precision;
    private final int scale;

    /**
     * Creates a reader.
     *
     * @param declared the type of the values in records, for which {@link #canRead} is true
     * @param type of the result: STRING instead of DOUBLE or LONG for the text of a number, and instead of VARIANT;
     *     DECIMAL instead of LONG for numbers that need not be whole
     */
    JsonValueReader(DataType declared, DataType type, JsonScanner scanner) {
        this.scanner = scanner;
        numbers = new JsonNumbers(scanner);
        kind = isNumberAsText(declared, type) ? Kind.NUMBER : kind(isNumeric(declared, type) ? type : declared);
        struct =
                declared instanceof StructType fields ? new JsonObjectReader(fields, (StructType) type, scanner) : null;
        DataType item = itemType(declared);
        items = item == null ? null : new JsonValueReader(item, itemType(type), scanner);
        precision = type instanceof DecimalType decimal ? decimal.precision() : 0;
        scale = type instanceof DecimalType decimal ? decimal.scale() : 0;
    }

    /** Whether values of a type in JSON, of another type in Spark, are numbers as text. */
    static boolean isNumberAsText(DataType declared, DataType type) {
        boolean isNumber = DataTypes.DoubleType.equals(declared) || DataTypes.LongType.equals(declared);
        return isNumber && DataTypes.StringType.equals(type);
    }

    /** Whether values of a type in JSON, of another type in Spark, are numbers that need not be whole. */
    static boolean isNumeric(DataType declared, DataType type) {
        return DataTypes.LongType.equals(declared) && type instanceof DecimalType;
    }

    private static DataType itemType(DataType type) {
        return type instanceof ArrayType array
                ? array.elementType()
                : type instanceof MapType map ? map.valueType() : null;
    }

    /** Whether values of a type can be read. */
    static boolean canRead(DataType type) {
        if (type instanceof StructType fields) {
            return JsonObjectReader.canRead(fields);
        }
        DataType item = itemType(type);
        return kind(type) != null && (item == null || canRead(item));
    }

    private static Kind kind(DataType type) {
        if (type instanceof StructType) {
            return Kind.STRUCT;
        }
        if (type instanceof ArrayType) {
            return Kind.ARRAY;
        }
        if (type instanceof MapType map) {
            return DataTypes.StringType.equals(map.keyType()) ? Kind.MAP : null;
        }
        if (type instanceof DecimalType) {
            return Kind.DECIMAL;
        }
        if (type instanceof VariantType) {
            return Kind.JSON;
        }
        if (DataTypes.StringType.equals(type)) {
            return Kind.STRING;
        }
        if (DataTypes.LongType.equals(type)) {
            return Kind.LONG;
        }
        if (DataTypes.IntegerType.equals(type)) {
            return Kind.INT;
        }
        if (DataTypes.DoubleType.equals(type)) {
            return Kind.DOUBLE;
        }
        if (DataTypes.DateType.equals(type)) {
            return Kind.DATE;
        }
        if (DataTypes.TimestampType.equals(type)) {
            return Kind.TIMESTAMP;
        }
        if (type instanceof TimeType) {
            return Kind.TIME;
        }
        return DataTypes.BooleanType.equals(type) ? Kind.BOOLEAN : null;
    }

    /** The value at the position of the scanner, whose text is {@code record}; null for JSON's null. */
    Object read(byte[] record) {
        int first = scanner.peek();
        if (first == 'n') {
            return scanner.read("null") ? null : NOT_READ;
        }
        return switch (kind) {
            case STRING -> first == '"' ? readString(record) : NOT_READ;
            case LONG -> numbers.readLong(record);
            case INT -> numbers.readInt(record);
            case DOUBLE -> numbers.readDouble(record);
            case NUMBER -> readNumber(record);
            case JSON -> readJson(record);
            case BOOLEAN -> readBoolean(first);
            case DECIMAL -> numbers.readDecimal(record, precision, scale);
            case DATE -> first == '"' ? readDate(record) : NOT_READ;
            case TIME -> first == '"' ? readTime(record) : NOT_READ;
            case TIMESTAMP -> first == '"' ? readTimestamp(record) : numbers.readMillis(record);
            case ARRAY -> scanner.read('[') ? readArray(record) : NOT_READ;
            case MAP -> scanner.read('{') ? readMap(record) : NOT_READ;
            case STRUCT -> first == '{' ? struct.readObject(record) : NOT_READ;
        };
    }

    private Object readString(byte[] record) {
        scanner.read('"');
        int start = scanner.position();
        int length = scanner.readPlainString();
        return length == UNRECOGNIZED ? NOT_READ : UTF8String.fromBytes(record, start, length);
    }

    private Object readNumber(byte[] record) {
        int start = scanner.position();
        int length = scanner.readNumber();
        return length == UNRECOGNIZED ? NOT_READ : UTF8String.fromBytes(record, start, length);
    }

    private Object readJson(byte[] record) {
        int start = scanner.position();
        return scanner.skipValue() ? UTF8String.fromBytes(record, start, scanner.position() - start) : NOT_READ;
    }

    private Object readDate(byte[] record) {
        scanner.read('"');
        int start = scanner.position();
        return JsonTimes.readDate(record, start, scanner.readPlainString());
    }

    private Object readTime(byte[] record) {
        scanner.read('"');
        int start = scanner.position();
        return JsonTimes.readTime(record, start, scanner.readPlainString());
    }

    private Object readTimestamp(byte[] record) {
        scanner.read('"');
        int start = scanner.position();
        return JsonTimes.readTimestamp(record, start, scanner.readPlainString());
    }

    private Object readBoolean(int first) {
        if (first == 't') {
            return scanner.read("true") ? Boolean.TRUE : NOT_READ;
        }
        return scanner.read("false") ? Boolean.FALSE : NOT_READ;
    }

    private Object readArray(byte[] record) {
        List<Object> values = new ArrayList<>();
        if (!scanner.read(']')) {
            do {
                scanner.budget().takeItems(1);
                Object value = items.read(record);
                if (value == NOT_READ) {
                    return NOT_READ;
                }
                values.add(value);
            } while (scanner.read(','));
            if (!scanner.read(']')) {
                return NOT_READ;
            }
        }
        return new GenericArrayData(values.toArray());
    }

    /** A map with all keys in their order; NOT_READ if a key appears twice. */
    private Object readMap(byte[] record) {
        List<Object> keys = new ArrayList<>();
        List<Object> values = new ArrayList<>();
        if (!scanner.read('}')) {
            do {
                scanner.budget().takeEntries(1);
                Object key = scanner.peek() == '"' ? readString(record) : NOT_READ;
                Object value = key != NOT_READ && scanner.read(':') ? items.read(record) : NOT_READ;
                if (value == NOT_READ) {
                    return NOT_READ;
                }
                keys.add(key);
                values.add(value);
            } while (scanner.read(','));
            if (!scanner.read('}')) {
                return NOT_READ;
            }
        }
        if (keys.size() > 1 && new HashSet<>(keys).size() < keys.size()) {
            return NOT_READ;
        }
        return new ArrayBasedMapData(new GenericArrayData(keys.toArray()), new GenericArrayData(values.toArray()));
    }
}
