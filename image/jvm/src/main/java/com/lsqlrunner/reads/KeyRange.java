package com.lsqlrunner.reads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.errors.Unchecked;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Iterator;

/**
 * Keys from one on, and before another one, by their JSON: numbers by their value, texts by their UTF-8 bytes, and keys
 * of several fields by their first field that differs. A key that is null is in no range.
 *
 * @param from null for all keys before {@code to}
 * @param to null for all keys from {@code from} on
 */
record KeyRange(JsonNode from, JsonNode to) {
    private static final ObjectMapper JSON =
            new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

    /** The range between two keys as JSON, of which one may be null. */
    static KeyRange of(String from, String to) {
        return new KeyRange(from == null ? null : tree(from), to == null ? null : tree(to));
    }

    /** Whether a key as JSON is in the range. */
    boolean contains(String key) {
        JsonNode tree = tree(key);
        return !tree.isNull() && (from == null || compare(tree, from) >= 0) && (to == null || compare(tree, to) < 0);
    }

    private static JsonNode tree(String json) {
        try {
            return JSON.readTree(json);
        } catch (JsonProcessingException impossible) {
            throw Unchecked.thrown(impossible);
        }
    }

    private static int compare(JsonNode one, JsonNode other) {
        if (one.isContainerNode() && other.isContainerNode()) {
            Iterator<JsonNode> others = other.elements();
            for (JsonNode field : one) {
                int order = others.hasNext() ? compare(field, others.next()) : 1;
                if (order != 0) {
                    return order;
                }
            }
            return others.hasNext() ? -1 : 0;
        }
        if (one.isNull() || other.isNull()) {
            return Boolean.compare(other.isNull(), one.isNull());
        }
        if (one.isNumber() && other.isNumber()) {
            return one.decimalValue().compareTo(other.decimalValue());
        }
        return Arrays.compareUnsigned(bytes(one), bytes(other));
    }

    private static byte[] bytes(JsonNode value) {
        return value.asText().getBytes(StandardCharsets.UTF_8);
    }
}
