package com.lsqlrunner.protobuf;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A field of a message, as the driver describes it.
 *
 * @param kind the name of a scalar type in a {@code .proto} file, or {@code enum}, {@code message}, {@code timestamp},
 *     {@code wrapper}
 * @param presence {@code implicit}, {@code optional}, {@code required}, {@code repeated} or {@code map}
 * @param oneof the name of the field's oneof; null for none
 * @param key the scalar type of the keys of a map; null for other fields
 * @param symbols of an enum, in order
 * @param fields of a message, a timestamp or a wrapper
 */
record FieldSpec(
        String name,
        int number,
        String kind,
        String presence,
        String oneof,
        String key,
        List<Symbol> symbols,
        List<FieldSpec> fields) {

    record Symbol(String name, int number) {}

    static List<FieldSpec> of(JsonNode fields) {
        List<FieldSpec> specs = new ArrayList<>();
        for (JsonNode field : fields) {
            List<Symbol> symbols = new ArrayList<>();
            for (JsonNode symbol : field.path("symbols")) {
                symbols.add(new Symbol(symbol.get(0).asText(), symbol.get(1).asInt()));
            }
            specs.add(new FieldSpec(
                    field.get("name").asText(),
                    field.get("number").asInt(),
                    field.get("kind").asText(),
                    field.get("presence").asText(),
                    field.path("oneof").textValue(),
                    field.path("key").textValue(),
                    symbols,
                    of(field.path("fields"))));
        }
        return specs;
    }

    boolean isRepeated() {
        return presence.equals("repeated");
    }

    boolean isMap() {
        return presence.equals("map");
    }

    /** Whether a value is encoded as a message. */
    boolean isMessage() {
        return kind.equals("message") || kind.equals("timestamp") || kind.equals("wrapper");
    }

    /** The wire type of a value. */
    int wire() {
        return wire(kind);
    }

    static int wire(String kind) {
        return switch (kind) {
            case "double", "fixed64", "sfixed64" -> WireType.FIXED64;
            case "float", "fixed32", "sfixed32" -> WireType.FIXED32;
            case "string", "bytes", "message", "timestamp", "wrapper" -> WireType.LENGTH;
            default -> WireType.VARINT;
        };
    }

    /** The name of each number. If a number has several names, the first one is used, as in Protobuf's JSON. */
    Map<Integer, String> namesByNumber() {
        Map<Integer, String> names = new TreeMap<>();
        symbols.forEach(symbol -> names.putIfAbsent(symbol.number(), symbol.name()));
        return names;
    }
}
