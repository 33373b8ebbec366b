package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.expression.BinaryFunction;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Sets fields of a JSON object, and of objects in it: {@code SELECT *, x AS y, z AS who.name}.
 *
 * <p>Spark can rebuild an object only from fields that a schema names, or through VARIANT, which writes 1.0 as 1. This
 * function copies the record token by token, so it preserves unknown fields and the digits of numbers.
 */
public final class ExtendJson extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's types are serializable, but their class does not declare it.
    private final StructType extended;

    /**
     * Creates the function. The result is the object {@code source} with all fields of the object {@code fields}: an
     * existing field is replaced, others are added at the end.
     *
     * @param extended the fields that do not replace an object of {@code source} but extend it in the same way; the
     *     type of each of them has its own fields of this kind
     */
    public ExtendJson(Expression source, Expression fields, StructType extended) {
        super(source, fields, extended);
        this.extended = extended;
    }

    @Override
    public byte[] call(Object source, Object fields) {
        return extended((byte[]) source, (byte[]) fields, extended);
    }

    @Override
    protected ExtendJson withChildren(List<Expression> children) {
        return new ExtendJson(children.get(0), children.get(1), extended);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_extend_json";
    }

    static byte[] extended(byte[] source, byte[] fields, StructType extended) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(source.length + fields.length);
        try (JsonGenerator to = JsonTokens.JSON.createGenerator(out)) {
            writeExtended(source, fields, extended, to);
        } catch (IOException error) {
            throw JsonTokens.notJson(error);
        }
        return out.toByteArray();
    }

    private static void writeExtended(byte[] source, byte[] fields, StructType extended, JsonGenerator to)
            throws IOException {
        Set<String> names = new HashSet<>();
        forEachField(fields, (name, from) -> {
            names.add(name);
            from.skipChildren();
        });
        Map<String, StructType> inside = new HashMap<>();
        for (StructField field : extended.fields()) {
            inside.put(field.name(), (StructType) field.dataType());
        }
        Map<String, byte[]> objects = new HashMap<>();
        to.writeStartObject();
        forEachField(source, (name, from) -> {
            if (!names.contains(name)) {
                to.writeFieldName(name);
                copyValue(from, to);
            } else if (inside.containsKey(name)) {
                objects.put(name, objectOrNull(from, source, name));
            } else {
                from.skipChildren();
            }
        });
        forEachField(fields, (name, from) -> {
            to.writeFieldName(name);
            byte[] object = objects.get(name);
            if (object == null) {
                copyValue(from, to);
            } else {
                writeInside(name, object, JsonTokens.bytesOf(from, fields), inside.get(name), to);
            }
        });
        to.writeEndObject();
    }

    private static void writeInside(String name, byte[] object, byte[] fields, StructType extended, JsonGenerator to)
            throws IOException {
        try {
            writeExtended(object, fields, extended, to);
        } catch (MalformedRecordException malformed) {
            throw malformed.inField(name);
        }
    }

    private static byte[] objectOrNull(JsonParser from, byte[] source, String name) throws IOException {
        return switch (from.currentToken()) {
            case VALUE_NULL -> null;
            case START_OBJECT -> JsonTokens.bytesOf(from, source);
            default -> throw JsonTokens.mismatch(from, "an object").inField(name);
        };
    }

    /** Reads the current value of the parser, up to its last token. */
    @FunctionalInterface
    private interface FieldReader {
        void read(String name, JsonParser from) throws IOException;
    }

    private static void forEachField(byte[] object, FieldReader reader) throws IOException {
        try (JsonParser from = JsonTokens.of(object)) {
            JsonTokens.readStart(from);
            while (from.nextToken() != JsonToken.END_OBJECT) {
                String name = from.currentName();
                from.nextToken();
                reader.read(name, from);
            }
            JsonTokens.readEnd(from);
        }
    }

    /** Copies the current value of the parser. Numbers are copied as text, unlike in Jackson's own copy. */
    private static void copyValue(JsonParser from, JsonGenerator to) throws IOException {
        int depth = 0;
        do {
            JsonToken token = from.currentToken();
            if (token.isNumeric()) {
                to.writeNumber(from.getText());
            } else {
                to.copyCurrentEvent(from);
            }
            depth += token.isStructStart() ? 1 : token.isStructEnd() ? -1 : 0;
        } while (depth > 0 && from.nextToken() != null);
    }
}
