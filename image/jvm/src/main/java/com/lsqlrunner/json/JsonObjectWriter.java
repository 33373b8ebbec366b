package com.lsqlrunner.json;

import java.nio.charset.StandardCharsets;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Writes structs as JSON objects: the same bytes as Spark's generator, without characters between. */
final class JsonObjectWriter {
    private final byte[][] names;
    private final JsonValueWriter[] fields;
    private final JsonOutput out = new JsonOutput();

    private JsonObjectWriter(byte[][] names, JsonValueWriter[] fields) {
        this.names = names;
        this.fields = fields;
    }

    /** A writer of a struct; null if one of its fields has a type that only Spark's generator writes. */
    static JsonObjectWriter of(StructType type) {
        return of(type, type);
    }

    /**
     * A writer of a struct; null as for {@link #of(StructType)}.
     *
     * @param declared the type of the struct in JSON
     * @param type of the rows: with STRING in place of DOUBLE for numbers that are text
     */
    static JsonObjectWriter of(StructType declared, StructType type) {
        int count = type.length();
        byte[][] names = new byte[count][];
        JsonValueWriter[] fields = new JsonValueWriter[count];
        for (int i = 0; i < count; i++) {
            StructField field = type.fields()[i];
            String separator = i == 0 ? "{" : ",";
            String name = new String(JsonOutput.quoted(field.name()), StandardCharsets.UTF_8);
            names[i] = JsonOutput.utf8(separator + name + ":");
            fields[i] = JsonValueWriter.of(declared.fields()[i].dataType(), field.dataType());
            if (fields[i] == null) {
                return null;
            }
        }
        return count == 0 ? null : new JsonObjectWriter(names, fields);
    }

    /** A writer of structs within another value; null as for {@link #of(StructType)}. */
    static JsonValueWriter fieldsOf(StructType declared, StructType type) {
        JsonObjectWriter struct = of(declared, type);
        return struct == null
                ? null
                : (out, from, index) -> struct.writeTo(out, from.getStruct(index, struct.fields.length));
    }

    /** The JSON object of a struct, in UTF-8, with all null fields; null if only Spark's generator writes it. */
    byte[] write(SpecializedGetters row) {
        out.clear();
        return writeTo(out, row) ? out.toBytes() : null;
    }

    private boolean writeTo(JsonOutput to, SpecializedGetters row) {
        for (int i = 0; i < fields.length; i++) {
            to.write(names[i]);
            if (row.isNullAt(i)) {
                to.write(JsonValueWriter.NULL);
            } else if (!fields[i].write(to, row, i)) {
                return false;
            }
        }
        to.write('}');
        return true;
    }
}
