package com.lsqlrunner.text;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;

/** Parses the JSON in which the driver passes column names and options. */
final class Options {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Options() {}

    static List<String> list(String text) {
        return read(text, new TypeReference<>() {});
    }

    static Map<String, String> map(String text) {
        return read(text, new TypeReference<>() {});
    }

    private static <T> T read(String text, TypeReference<T> type) {
        try {
            return JSON.readValue(text, type);
        } catch (JsonProcessingException error) {
            throw new IllegalArgumentException(error);
        }
    }
}
