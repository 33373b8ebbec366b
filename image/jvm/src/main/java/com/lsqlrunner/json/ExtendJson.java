package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.ErrorChain;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.expression.BinaryFunction;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Sets fields of a JSON object: {@code SELECT *, x AS y}.
 *
 * <p>Spark can rebuild an object only from fields that a schema names, or through VARIANT, which writes 1.0 as 1. This
 * function copies the record token by token, so it preserves unknown fields and the digits of numbers.
 */
public final class ExtendJson extends BinaryFunction {
    private static final long serialVersionUID = 1L;
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(RecordBudget.MAX_DEPTH)
                    .build())
            .build();

    /**
     * Creates the function. The result is the object {@code source} with all fields of the object {@code fields}: an
     * existing field is replaced, others are added at the end.
     */
    public ExtendJson(Expression source, Expression fields) {
        super(source, fields);
    }

    @Override
    public byte[] call(Object source, Object fields) {
        try {
            return extended((byte[]) source, (byte[]) fields);
        } catch (IOException error) {
            throw new MalformedRecordException(ErrorChain.link(error).reason());
        }
    }

    @Override
    protected ExtendJson withChildren(List<Expression> children) {
        return new ExtendJson(children.get(0), children.get(1));
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_extend_json";
    }

    static byte[] extended(byte[] source, byte[] fields) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream(source.length + fields.length);
        try (JsonGenerator to = JSON.createGenerator(out)) {
            to.writeStartObject();
            copyFields(source, to, namesOf(fields));
            copyFields(fields, to, Set.of());
            to.writeEndObject();
        }
        return out.toByteArray();
    }

    private static Set<String> namesOf(byte[] object) throws IOException {
        Set<String> names = new HashSet<>();
        try (JsonParser from = JSON.createParser(object)) {
            from.nextToken();
            while (from.nextToken() == JsonToken.FIELD_NAME) {
                names.add(from.currentName());
                from.nextToken();
                from.skipChildren();
            }
        }
        return names;
    }

    private static void copyFields(byte[] object, JsonGenerator to, Set<String> except) throws IOException {
        try (JsonParser from = JSON.createParser(object)) {
            if (from.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("the record is not a JSON object");
            }
            while (from.nextToken() == JsonToken.FIELD_NAME) {
                String name = from.currentName();
                from.nextToken();
                if (except.contains(name)) {
                    from.skipChildren();
                } else {
                    to.writeFieldName(name);
                    copyValue(from, to);
                }
            }
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
