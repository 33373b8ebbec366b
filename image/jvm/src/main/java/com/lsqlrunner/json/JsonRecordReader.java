package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import com.lsqlrunner.value.TextValues;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.VariantType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Reads every JSON object that is valid by RFC 8259 to a struct, and decides which records are malformed: text that is
 * not JSON, text after the object, a value that does not have its type or does not fit it. {@link JsonObjectReader}
 * reads most records faster and returns the same values.
 *
 * <p>Values have these forms: whole numbers may have a fraction of zeros or an exponent ({@code 10.0}, {@code 1e3});
 * numbers in timestamps are milliseconds since 1970; text is read by {@link TextValues} if the type has no other form
 * in JSON; every value can be read as text. If a field or key appears twice, the last one counts.
 */
final class JsonRecordReader {
    /** An exponent above 9,999: the number has more digits than a record may have. */
    private static final Pattern LARGE_EXPONENT = Pattern.compile("[eE][-+]?0*[1-9][0-9]{4,}$");

    private static final long MICROS_PER_MILLI = 1_000;

    private final StructType declared;
    private final StructType type;
    private final ValueReader struct;
    private final RecordBudget budget = new RecordBudget();
    private byte[] record;

    /** Reads the value of the current token, which is not null. */
    @FunctionalInterface
    private interface ValueReader {
        Object read(JsonParser json) throws IOException;
    }

    /**
     * Creates a reader.
     *
     * @param declared the type of the records, with nullable fields
     * @param type of the structs: with STRING in place of DOUBLE or LONG for numbers whose text is kept, and DECIMAL in
     *     place of LONG for numbers that need not be whole
     */
    JsonRecordReader(StructType declared, StructType type) {
        this.declared = declared;
        this.type = type;
        struct = structReader(declared, type);
    }

    /**
     * The struct of a record.
     *
     * @throws MalformedRecordException with the field
     */
    InternalRow read(byte[] text) {
        record = text;
        budget.start(text.length);
        return parse(text, declared, this::readObject);
    }

    /**
     * A struct whose only field is the value of the whole record.
     *
     * @throws MalformedRecordException it is not one JSON value of the type
     */
    InternalRow readBare(byte[] text) {
        record = text;
        budget.start(text.length);
        ValueReader value = reader(declared.fields()[0].dataType(), type.fields()[0].dataType());
        return parse(text, declared, json -> {
            Object bare = readNullable(json, value);
            JsonTokens.readEnd(json);
            return new GenericInternalRow(new Object[] {bare});
        });
    }

    /** Reads a JSON text with a parser at its first token. */
    @FunctionalInterface
    interface TextReader<T> {
        T read(JsonParser json) throws IOException;
    }

    /**
     * The value that a reader returns for a JSON text.
     *
     * @param declared the type of the value, whose fields errors may name
     * @throws MalformedRecordException with the field
     */
    static <T> T parse(byte[] text, StructType declared, TextReader<T> reader) {
        try (JsonParser json = JsonTokens.of(text)) {
            try {
                JsonTokens.readFirst(json);
                return reader.read(json);
            } catch (JsonProcessingException invalid) {
                throw JsonTokens.notJson(invalid).inField(path(json, declared));
            } catch (MalformedRecordException malformed) {
                throw malformed.inField(path(json, declared));
            }
        } catch (IOException error) {
            throw JsonTokens.notJson(error);
        }
    }

    private InternalRow readObject(JsonParser json) throws IOException {
        InternalRow row = (InternalRow) struct.read(expect(json, JsonToken.START_OBJECT, "an object"));
        JsonTokens.readEnd(json);
        return row;
    }

    private static String path(JsonParser json, StructType declared) {
        return JsonFieldPath.of(json.getParsingContext(), declared);
    }

    private ValueReader reader(DataType kind, DataType type) {
        if (kind instanceof StructType fields) {
            ValueReader of = structReader(fields, (StructType) type);
            return json -> of.read(expect(json, JsonToken.START_OBJECT, "an object"));
        }
        if (kind instanceof ArrayType array) {
            ValueReader item = reader(array.elementType(), ((ArrayType) type).elementType());
            return json -> readArray(expect(json, JsonToken.START_ARRAY, "an array"), item);
        }
        if (kind instanceof MapType map) {
            ValueReader value = reader(map.valueType(), ((MapType) type).valueType());
            return json -> readMap(expect(json, JsonToken.START_OBJECT, "an object"), value);
        }
        if (kind instanceof StringType) {
            return this::readText;
        }
        if (kind instanceof VariantType) {
            return this::readJson;
        }
        if (kind instanceof BinaryType) {
            return json ->
                    expect(json, JsonToken.VALUE_STRING, "a text in Base64").getBinaryValue();
        }
        if (kind instanceof BooleanType) {
            return JsonRecordReader::readBoolean;
        }
        if (kind instanceof IntegerType) {
            return json -> (int) whole(json, Integer.MIN_VALUE, Integer.MAX_VALUE, "int");
        }
        if (JsonValueReader.isNumeric(kind, type)) {
            return json -> readDecimal(json, (DecimalType) type);
        }
        if (kind instanceof LongType && type instanceof StringType) {
            return json -> textOf(expectNumber(json));
        }
        if (kind instanceof LongType) {
            return json -> whole(json, Long.MIN_VALUE, Long.MAX_VALUE, "long");
        }
        if (kind instanceof TimestampType) {
            TextValues.TextReader text = TextValues.of(kind);
            long limit = Long.MAX_VALUE / MICROS_PER_MILLI;
            return json -> isText(json)
                    ? text.read(textOf(json))
                    : (Object) (whole(json, -limit, limit, "timestamp") * MICROS_PER_MILLI);
        }
        if (kind instanceof DecimalType decimal) {
            TextValues.TextReader text = TextValues.of(kind);
            return json -> isText(json) ? text.read(textOf(json)) : readDecimal(json, decimal);
        }
        if (kind instanceof DoubleType || kind instanceof FloatType) {
            return realReader(kind, type);
        }
        TextValues.TextReader text = TextValues.of(kind);
        return json -> text.read(textOf(expect(json, JsonToken.VALUE_STRING, "a text")));
    }

    private ValueReader structReader(StructType fields, StructType type) {
        List<String> names = Arrays.asList(fields.fieldNames());
        ValueReader[] readers = new ValueReader[fields.length()];
        for (int i = 0; i < readers.length; i++) {
            StructField field = fields.fields()[i];
            readers[i] = reader(field.dataType(), type.fields()[i].dataType());
        }
        Map<String, Integer> places = new LinkedHashMap<>();
        names.forEach(name -> places.put(name, places.size()));
        return json -> {
            budget.takeFields(readers.length);
            Object[] values = new Object[readers.length];
            while (json.nextToken() != JsonToken.END_OBJECT) {
                Integer place = places.get(json.currentName());
                json.nextToken();
                if (place == null) {
                    json.skipChildren();
                } else {
                    values[place] = readNullable(json, readers[place]);
                }
            }
            return new GenericInternalRow(values);
        };
    }

    private static Object readNullable(JsonParser json, ValueReader reader) throws IOException {
        return json.currentToken() == JsonToken.VALUE_NULL ? null : reader.read(json);
    }

    private Object readArray(JsonParser json, ValueReader item) throws IOException {
        List<Object> values = new ArrayList<>();
        while (json.nextToken() != JsonToken.END_ARRAY) {
            budget.takeItems(1);
            values.add(readNullable(json, item));
        }
        return new GenericArrayData(values.toArray());
    }

    private Object readMap(JsonParser json, ValueReader value) throws IOException {
        Map<UTF8String, Object> entries = new LinkedHashMap<>();
        while (json.nextToken() != JsonToken.END_OBJECT) {
            UTF8String key = UTF8String.fromString(json.currentName());
            json.nextToken();
            budget.takeEntries(1);
            entries.put(key, readNullable(json, value));
        }
        return new ArrayBasedMapData(
                new GenericArrayData(entries.keySet().toArray()),
                new GenericArrayData(entries.values().toArray()));
    }

    /** The text of a value: the text of a string, or the JSON of another value as it is in the record. */
    private UTF8String readText(JsonParser json) throws IOException {
        if (!json.currentToken().isStructStart()) {
            return textOf(json);
        }
        return UTF8String.fromBytes(JsonTokens.bytesOf(json, record));
    }

    /** The JSON of a value as it is in the record. */
    private UTF8String readJson(JsonParser json) throws IOException {
        int start = (int) json.currentTokenLocation().getByteOffset();
        json.skipChildren();
        json.finishToken();
        return UTF8String.fromBytes(record, start, (int) json.currentLocation().getByteOffset() - start);
    }

    private static UTF8String textOf(JsonParser json) throws IOException {
        return UTF8String.fromString(json.getText());
    }

    private static boolean isText(JsonParser json) {
        return json.currentToken() == JsonToken.VALUE_STRING;
    }

    private static Object readBoolean(JsonParser json) {
        if (!json.currentToken().isBoolean()) {
            throw JsonTokens.mismatch(json, "a boolean");
        }
        return json.currentToken() == JsonToken.VALUE_TRUE;
    }

    /** Reads numbers, and text such as NaN, for which JSON has no number. */
    private static ValueReader realReader(DataType kind, DataType type) {
        TextValues.TextReader text = TextValues.of(kind);
        boolean keepsText = type instanceof StringType;
        return json -> {
            boolean isNumber = json.currentToken().isNumeric();
            if (!isNumber && (!isText(json) || Character.isDigit(lastCharacter(json)))) {
                throw JsonTokens.mismatch(json, "a number");
            }
            if (keepsText) {
                if (!isNumber) {
                    text.read(textOf(json));
                }
                return textOf(json);
            }
            return isNumber ? real(json, kind) : text.read(textOf(json));
        };
    }

    private static Object real(JsonParser json, DataType kind) throws IOException {
        if (kind instanceof FloatType) {
            float value = json.getFloatValue();
            if (Float.isInfinite(value)) {
                throw doesNotFit(json.getText(), "float");
            }
            return value;
        }
        double value = json.getDoubleValue();
        if (Double.isInfinite(value)) {
            throw doesNotFit(json.getText(), "double");
        }
        return value;
    }

    private static char lastCharacter(JsonParser json) throws IOException {
        String text = json.getText();
        return text.isEmpty() ? '0' : text.charAt(text.length() - 1);
    }

    private static long whole(JsonParser json, long least, long most, String name) throws IOException {
        BigDecimal value = exact(expectNumber(json).getText(), name);
        if (value.scale() > 0
                || value.compareTo(BigDecimal.valueOf(least)) < 0
                || value.compareTo(BigDecimal.valueOf(most)) > 0) {
            throw doesNotFit(json.getText(), name);
        }
        return value.longValueExact();
    }

    private static Decimal readDecimal(JsonParser json, DecimalType type) throws IOException {
        return decimal(expectNumber(json).getText(), type);
    }

    /**
     * The number of a JSON text as a decimal.
     *
     * @throws MalformedRecordException it does not fit the type
     */
    static Decimal decimal(String number, DecimalType type) {
        BigDecimal value = exact(number, type.simpleString());
        if (value.scale() > type.scale()
                || (long) value.precision() - value.scale() > type.precision() - type.scale()) {
            throw doesNotFit(number, type.simpleString());
        }
        return Decimal.apply(value.setScale(type.scale()), type.precision(), type.scale());
    }

    /**
     * The number without zeros at its end. Its exponent is limited, because a short text may represent millions of
     * digits.
     */
    private static BigDecimal exact(String digits, String name) {
        if (hasLargeExponent(digits)) {
            throw new MalformedRecordException("a number has more than %d digits".formatted(RecordBudget.MAX_DIGITS));
        }
        if (digits.length() > RecordBudget.MAX_DIGITS) {
            throw doesNotFit(digits, name);
        }
        return new BigDecimal(digits).stripTrailingZeros();
    }

    static boolean hasLargeExponent(String number) {
        return LARGE_EXPONENT.matcher(number).find();
    }

    private static JsonParser expect(JsonParser json, JsonToken token, String expected) {
        if (json.currentToken() != token) {
            throw JsonTokens.mismatch(json, expected);
        }
        return json;
    }

    private static JsonParser expectNumber(JsonParser json) {
        if (!json.currentToken().isNumeric()) {
            throw JsonTokens.mismatch(json, "a number");
        }
        return json;
    }

    private static MalformedRecordException doesNotFit(String number, String name) {
        return new MalformedRecordException(ShownValue.ofNumber(number) + " does not fit the type " + name);
    }
}
