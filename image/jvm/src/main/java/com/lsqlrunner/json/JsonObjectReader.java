package com.lsqlrunner.json;

import static com.lsqlrunner.json.JsonFieldNames.NO_FIELD;
import static com.lsqlrunner.json.JsonScanner.NOT_READ;
import static com.lsqlrunner.json.JsonScanner.UNRECOGNIZED;

import com.lsqlrunner.errors.MalformedRecordException;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Reads JSON objects to structs in one pass over the bytes. Strings of the struct refer to the bytes of the record.
 *
 * <p>It reads only records that {@link JsonRecordReader} would read, and returns the same values. It leaves other
 * records to that reader, which decides whether they are malformed: escapes in strings that are read, fields that
 * appear twice, numbers with many digits, values that do not have the type of their field.
 */
final class JsonObjectReader {
    /** The largest number of fields of a struct: a bit of a long for each. */
    private static final int MOST_FIELDS = 64;

    private final StructType type;
    private final JsonFieldNames names;
    private final JsonValueReader[] fields;
    private final JsonScanner scanner;

    /**
     * Creates a reader.
     *
     * @param declared the type of the records, for which {@link #canRead} is true
     * @param type of the structs, as in {@link DecodeJson}
     */
    JsonObjectReader(StructType declared, StructType type, JsonScanner scanner) {
        int count = declared.length();
        this.type = declared;
        this.scanner = scanner;
        names = new JsonFieldNames(declared.fieldNames(), scanner);
        fields = new JsonValueReader[count];
        for (int i = 0; i < count; i++) {
            fields[i] = new JsonValueReader(declared.fields()[i].dataType(), type.fields()[i].dataType(), scanner);
        }
    }

    /** A reader of a struct; null if one of its fields has a type that only JsonRecordReader reads. */
    static JsonObjectReader of(StructType type) {
        return of(type, type);
    }

    /** A reader with these arguments of the constructor; null as for {@link #of(StructType)}. */
    static JsonObjectReader of(StructType declared, StructType type) {
        return canRead(declared) ? new JsonObjectReader(declared, type, new JsonScanner()) : null;
    }

    /** Whether all fields of a struct can be read. */
    static boolean canRead(StructType type) {
        return type.length() <= MOST_FIELDS
                && Arrays.stream(type.fields()).map(StructField::dataType).allMatch(JsonValueReader::canRead);
    }

    /**
     * The struct of a record; null if only JsonRecordReader can decide what the record is.
     *
     * @throws MalformedRecordException the record exceeds its budget
     */
    InternalRow read(byte[] record) {
        return read(record, false);
    }

    /** A struct whose only field is the value of the whole record; null as for {@link #read}. */
    InternalRow readBare(byte[] record) {
        return read(record, true);
    }

    private InternalRow read(byte[] record, boolean isBare) {
        scanner.open(record);
        Object row;
        try {
            row = isBare ? readOnlyField(record) : scanner.peek() == '{' ? readObject(record) : NOT_READ;
        } catch (MalformedRecordException exceeded) { // the budget: everything before is valid
            throw exceeded.inField(JsonFieldPath.at(scanner.position(), record, type));
        }
        return row != NOT_READ && scanner.isAtEnd() ? (InternalRow) row : null;
    }

    private Object readOnlyField(byte[] record) {
        Object value = fields[0].read(record);
        return value == NOT_READ ? NOT_READ : new GenericInternalRow(new Object[] {value});
    }

    /** The struct at the position of the scanner; NOT_READ if only JsonRecordReader can decide what it is. */
    Object readObject(byte[] record) {
        scanner.read('{');
        scanner.budget().takeFields(fields.length);
        Object[] values = new Object[fields.length];
        if (scanner.read('}')) {
            return new GenericInternalRow(values);
        }
        long seen = 0;
        int place = 0;
        do {
            int field = names.read(record, place++);
            if (field == NO_FIELD) {
                if (!scanner.skipValue()) {
                    return NOT_READ;
                }
                continue;
            }
            if (field == UNRECOGNIZED) {
                return NOT_READ;
            }
            Object value = fields[field].read(record);
            if (value == NOT_READ || (seen & (1L << field)) != 0) {
                return NOT_READ;
            }
            seen |= 1L << field;
            values[field] = value;
        } while (scanner.read(','));
        return scanner.read('}') ? new GenericInternalRow(values) : NOT_READ;
    }
}
