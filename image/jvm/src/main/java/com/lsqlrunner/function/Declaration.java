package com.lsqlrunner.function;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.types.DataType;

/**
 * A user-defined function as the user declares it.
 *
 * @param required for each argument, whether the class is not called if it is null
 * @param result with fields and elements that must not be null
 * @param resultNullable whether the class may return null
 */
record Declaration(String name, String className, List<Boolean> required, DataType result, boolean resultNullable) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Parses a declaration in JSON; {@code result} has the JSON of a Spark type. */
    static Declaration of(String text) {
        try {
            JsonNode json = JSON.readTree(text);
            List<Boolean> required = new ArrayList<>();
            json.get("required").forEach(each -> required.add(each.asBoolean()));
            return new Declaration(
                    json.get("name").asText(),
                    json.get("class").asText(),
                    required,
                    DataType.fromJson(json.get("result").toString()),
                    json.get("resultNullable").asBoolean());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
