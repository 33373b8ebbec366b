package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.lsqlrunner.errors.FieldPath;
import java.io.IOException;
import java.util.Arrays;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/** Where Jackson's parser is in a record, as the path of a field. */
final class JsonFieldPath {
    private static final JsonFactory JSON = new JsonFactory();

    private JsonFieldPath() {}

    /**
     * The path of the value that was read last, in the form of {@link FieldPath}. It ends at a field that the type does
     * not have, because the names of such fields are values of the record.
     */
    static String of(JsonStreamContext context, DataType root) {
        return new Step(context, root).path;
    }

    /**
     * The path of the first value that begins or ends at a byte or after it.
     *
     * @param record valid JSON up to that byte
     */
    static String at(int index, byte[] record, DataType root) {
        try (JsonParser tokens = JSON.createParser(record)) {
            while (tokens.nextToken() != null && tokens.currentTokenLocation().getByteOffset() < index) {
                // The next token may be the one.
            }
            return of(tokens.getParsingContext(), root);
        } catch (IOException error) {
            return "";
        }
    }

    private static final class Step {
        private final String path;
        /** The type of the values at the path; null after the path has ended. */
        private final DataType type;

        Step(JsonStreamContext context, DataType root) {
            if (context.inRoot()) {
                path = "";
                type = root;
                return;
            }
            Step outside = new Step(context.getParent(), root);
            String name = context.getCurrentName();
            if (context.inObject() ? name == null : context.getCurrentIndex() < 0) {
                path = outside.path; // the object or array itself, of which nothing is read
                type = outside.type;
                return;
            }
            String part = null;
            DataType inside = null;
            if (outside.type instanceof ArrayType array && context.inArray()) {
                inside = array.elementType();
                part = FieldPath.inItem(context.getCurrentIndex(), "");
            } else if (outside.type instanceof MapType map && name != null) {
                inside = map.valueType();
                part = FieldPath.inEntry(name, "");
            } else if (outside.type instanceof StructType struct && name != null) {
                int field = Arrays.asList(struct.fieldNames()).indexOf(name);
                inside = field < 0 ? null : struct.apply(field).dataType();
                part = field < 0 ? null : name;
            }
            path = part == null ? outside.path : FieldPath.inField(outside.path, part);
            type = inside;
        }
    }
}
