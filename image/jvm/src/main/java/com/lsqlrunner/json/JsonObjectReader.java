package com.lsqlrunner.json;

import static com.lsqlrunner.json.JsonScanner.UNRECOGNIZED;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads JSON objects to structs in one pass over the bytes. Strings of the struct refer to the bytes of the record.
 *
 * <p>It reads a record only if Spark's parser would read it, and to the same values. All others it leaves to that
 * parser, which decides whether they are malformed: escapes in strings that are read, fields that appear twice, numbers
 * with many digits, values that do not have the type of their field.
 */
final class JsonObjectReader {
    /** The largest number of fields of a struct: a bit of a long for each. */
    private static final int MOST_FIELDS = 64;

    /** Numbers with more digits may not fit a long, or may not be exact as a double. */
    private static final int MOST_INTEGER_DIGITS = 18;

    private static final int MOST_EXACT_DIGITS = 15;

    /** The powers of ten that are exact as a double. */
    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };

    private static final Object NOT_READ = new Object();

    private enum Kind {
        STRING,
        BOOLEAN,
        INT,
        LONG,
        DOUBLE,
        STRUCT
    }

    private final byte[][] names;
    private final Kind[] kinds;
    private final JsonObjectReader[] structs;
    private final JsonScanner scanner;

    private JsonObjectReader(StructType type, JsonScanner scanner) {
        int count = type.length();
        this.scanner = scanner;
        names = new byte[count][];
        kinds = new Kind[count];
        structs = new JsonObjectReader[count];
        for (int i = 0; i < count; i++) {
            StructField field = type.fields()[i];
            names[i] = field.name().getBytes(StandardCharsets.UTF_8);
            kinds[i] = kind(field.dataType());
            if (field.dataType() instanceof StructType struct) {
                structs[i] = new JsonObjectReader(struct, scanner);
            }
        }
    }

    /** A reader of a struct; null if one of its fields has a type that only Spark's parser reads. */
    static JsonObjectReader of(StructType type) {
        return canRead(type) ? new JsonObjectReader(type, new JsonScanner()) : null;
    }

    private static boolean canRead(StructType type) {
        return type.length() <= MOST_FIELDS
                && Arrays.stream(type.fields())
                        .map(StructField::dataType)
                        .allMatch(field -> field instanceof StructType struct ? canRead(struct) : kind(field) != null);
    }

    private static Kind kind(DataType type) {
        if (type instanceof StructType) {
            return Kind.STRUCT;
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
        return DataTypes.BooleanType.equals(type) ? Kind.BOOLEAN : null;
    }

    /** The struct of a record; null if only Spark's parser can decide what the record is. */
    InternalRow read(byte[] record) {
        scanner.open(record);
        InternalRow row = scanner.peek() == '{' ? readObject(record) : null;
        return row != null && scanner.isAtEnd() ? row : null;
    }

    private InternalRow readObject(byte[] record) {
        scanner.read('{');
        Object[] values = new Object[names.length];
        if (scanner.read('}')) {
            return new GenericInternalRow(values);
        }
        long seen = 0;
        int expected = 0;
        do {
            if (!scanner.read('"')) {
                return null;
            }
            int start = scanner.position();
            int length = scanner.readPlainString();
            if (length == UNRECOGNIZED || !scanner.read(':')) {
                return null;
            }
            int field = find(record, start, length, expected);
            if (field == UNRECOGNIZED) {
                if (!scanner.skipValue()) {
                    return null;
                }
                continue;
            }
            Object value = readValue(record, field);
            if (value == NOT_READ || (seen & (1L << field)) != 0) {
                return null;
            }
            seen |= 1L << field;
            values[field] = value;
            expected = field + 1;
        } while (scanner.read(','));
        return scanner.read('}') ? new GenericInternalRow(values) : null;
    }

    /** The field with a name. Records mostly have their fields in one order, so the search begins with the next one. */
    private int find(byte[] record, int start, int length, int expected) {
        int count = names.length;
        for (int i = 0; i < count; i++) {
            int field = expected + i < count ? expected + i : expected + i - count;
            byte[] name = names[field];
            if (name.length == length && Arrays.equals(name, 0, length, record, start, start + length)) {
                return field;
            }
        }
        return UNRECOGNIZED;
    }

    private Object readValue(byte[] record, int field) {
        int first = scanner.peek();
        if (first == 'n') {
            return scanner.read("null") ? null : NOT_READ;
        }
        switch (kinds[field]) {
            case STRING:
                return first == '"' ? readString(record) : NOT_READ;
            case LONG:
                return readLong(record);
            case INT:
                Object number = readLong(record);
                return number instanceof Long found && found == found.intValue() ? found.intValue() : NOT_READ;
            case DOUBLE:
                return readDouble(record);
            case BOOLEAN:
                return readBoolean(first);
            default:
                InternalRow row = first == '{' ? structs[field].readObject(record) : null;
                return row == null ? NOT_READ : row;
        }
    }

    private Object readString(byte[] record) {
        scanner.read('"');
        int start = scanner.position();
        int length = scanner.readPlainString();
        return length == UNRECOGNIZED ? NOT_READ : UTF8String.fromBytes(record, start, length);
    }

    private Object readBoolean(int first) {
        if (first == 't') {
            return scanner.read("true") ? Boolean.TRUE : NOT_READ;
        }
        return scanner.read("false") ? Boolean.FALSE : NOT_READ;
    }

    private Object readLong(byte[] record) {
        int start = scanner.position();
        int length = scanner.readNumber();
        boolean negative = length > 0 && record[start] == '-';
        int digits = negative ? length - 1 : length;
        if (length == UNRECOGNIZED || digits > MOST_INTEGER_DIGITS) {
            return NOT_READ;
        }
        long number = 0;
        for (int i = start + length - digits; i < start + length; i++) {
            if (record[i] < '0' || record[i] > '9') { // a fraction or an exponent
                return NOT_READ;
            }
            number = number * 10 + (record[i] - '0');
        }
        return negative ? -number : number;
    }

    private Object readDouble(byte[] record) {
        int start = scanner.position();
        int length = scanner.readNumber();
        if (length == UNRECOGNIZED) {
            return NOT_READ;
        }
        boolean negative = record[start] == '-';
        long digits = 0;
        int count = 0;
        int fraction = -1;
        for (int i = negative ? start + 1 : start; i < start + length; i++) {
            byte next = record[i];
            if (next == '.') {
                fraction = 0;
            } else if (next >= '0' && next <= '9') {
                digits = digits * 10 + (next - '0');
                count++;
                fraction = fraction < 0 ? fraction : fraction + 1;
            } else { // an exponent
                return NOT_READ;
            }
        }
        // A quotient of two exact doubles is the double next to the number. Spark's parser reads -0 as 0.
        if (count > MOST_EXACT_DIGITS || (negative && fraction < 0 && digits == 0)) {
            return NOT_READ;
        }
        double number = fraction > 0 ? digits / POWERS_OF_TEN[fraction] : digits;
        return negative ? -number : number;
    }
}
