package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonStringEncoder;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.expression.UnaryFunction;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The canonical text of a JSON value, which is equal for equal values: without white space, the fields of objects in
 * the order of their names and without those that are null, numbers without zeros at their end, text without escapes
 * that it does not need. It does not depend on a type: otherwise keys could be equal because the type lacks a field in
 * which they differ.
 */
public final class CanonicalJson extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    /** The most digits of a number that is written without an exponent. */
    private static final int PLAIN_DIGITS = 40;

    private static final StructType UNKNOWN = new StructType();

    public CanonicalJson(Expression child) {
        super(child);
    }

    /** The canonical text of a JSON text, both in UTF-8. */
    @Override
    public byte[] call(Object text) {
        return canonical((byte[]) text);
    }

    static byte[] canonical(byte[] text) {
        return JsonRecordReader.parse(text, UNKNOWN, CanonicalJson::document);
    }

    private static byte[] document(JsonParser json) throws IOException {
        StringBuilder out = new StringBuilder();
        append(json, out);
        if (json.nextToken() != null) {
            throw new MalformedRecordException("there is text after the value");
        }
        return out.toString().getBytes(UTF_8);
    }

    /** Appends the value of the current token. */
    private static void append(JsonParser json, StringBuilder out) throws IOException {
        switch (json.currentToken()) {
            case START_OBJECT -> appendObject(json, out);
            case START_ARRAY -> appendArray(json, out);
            case VALUE_STRING -> appendText(json.getText(), out);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> out.append(number(json.getText()));
            default -> out.append(json.getText());
        }
    }

    private static void appendObject(JsonParser json, StringBuilder out) throws IOException {
        Map<String, String> fields = new TreeMap<>();
        while (json.nextToken() != JsonToken.END_OBJECT) {
            String name = json.currentName();
            StringBuilder value = new StringBuilder();
            if (json.nextToken() == JsonToken.VALUE_NULL) {
                fields.remove(name);
            } else {
                append(json, value);
                fields.put(name, value.toString());
            }
        }
        char before = '{';
        for (Map.Entry<String, String> field : fields.entrySet()) {
            appendText(field.getKey(), out.append(before));
            out.append(':').append(field.getValue());
            before = ',';
        }
        out.append(fields.isEmpty() ? "{}" : "}");
    }

    private static void appendArray(JsonParser json, StringBuilder out) throws IOException {
        out.append('[');
        for (boolean isFirst = true; json.nextToken() != JsonToken.END_ARRAY; isFirst = false) {
            if (!isFirst) {
                out.append(',');
            }
            append(json, out);
        }
        out.append(']');
    }

    private static void appendText(String text, StringBuilder out) {
        out.append('"')
                .append(JsonStringEncoder.getInstance().quoteAsString(text))
                .append('"');
    }

    /** The canonical text of a number. A number with too many digits to compute with equals only the same text. */
    private static String number(String digits) {
        if (digits.length() > RecordBudget.MAX_DIGITS || JsonRecordReader.hasLargeExponent(digits)) {
            return digits;
        }
        BigDecimal value = new BigDecimal(digits).stripTrailingZeros();
        boolean isPlain = Math.abs(value.scale()) + value.precision() <= PLAIN_DIGITS;
        return isPlain ? value.toPlainString() : value.toString();
    }

    @Override
    protected CanonicalJson withChild(Expression other) {
        return new CanonicalJson(other);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_canonical_json";
    }
}
