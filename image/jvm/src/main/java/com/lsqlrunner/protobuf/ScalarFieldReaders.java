package com.lsqlrunner.protobuf;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;

/** Creates readers of scalar values, and the values of missing fields. */
final class ScalarFieldReaders {
    private static final int UNSIGNED_DIGITS = 20;

    private ScalarFieldReaders() {}

    /** A reader of the values of a field. */
    static Function<ProtobufInput, Object> reader(FieldSpec field) {
        return field.kind().equals("enum") ? symbols(field) : reader(field.kind());
    }

    static Function<ProtobufInput, Object> reader(String kind) {
        return switch (kind) {
            case "double" -> in -> Double.longBitsToDouble(in.readFixed64());
            case "float" -> in -> Float.intBitsToFloat(in.readFixed32());
            case "int32" -> in -> (int) in.readVarint();
            case "sint32" -> in -> ProtobufInput.fromZigzag((int) in.readVarint());
            case "sfixed32" -> ProtobufInput::readFixed32;
            case "uint32" -> in -> in.readVarint() & 0xFFFFFFFFL;
            case "fixed32" -> in -> Integer.toUnsignedLong(in.readFixed32());
            case "int64" -> ProtobufInput::readVarint;
            case "sint64" -> in -> ProtobufInput.fromZigzag(in.readVarint());
            case "sfixed64" -> ProtobufInput::readFixed64;
            case "uint64" -> in -> unsigned(in.readVarint());
            case "fixed64" -> in -> unsigned(in.readFixed64());
            case "bool" -> in -> in.readVarint() != 0;
            case "string" -> ProtobufInput::readString;
            case "bytes" -> ProtobufInput::readBytes;
            default -> throw new IllegalArgumentException("Protobuf has no type " + kind);
        };
    }

    /** A reader of enum numbers as names. A number without a name, for example of a newer writer, is read as digits. */
    private static Function<ProtobufInput, Object> symbols(FieldSpec field) {
        Map<Integer, UTF8String> names = new HashMap<>();
        field.namesByNumber().forEach((number, name) -> names.put(number, UTF8String.fromString(name)));
        return in -> {
            int number = (int) in.readVarint();
            UTF8String name = names.get(number);
            return name == null ? UTF8String.fromString(Integer.toString(number)) : name;
        };
    }

    /** The value of a missing field that is not nullable. */
    static Object defaultValue(FieldSpec field) {
        return field.kind().equals("enum")
                ? UTF8String.fromString(field.symbols().get(0).name())
                : defaultValue(field.kind());
    }

    static Object defaultValue(String kind) {
        return switch (kind) {
            case "double" -> 0.0;
            case "float" -> 0.0f;
            case "int32", "sint32", "sfixed32" -> 0;
            case "uint64", "fixed64" -> unsigned(0);
            case "bool" -> false;
            case "string" -> UTF8String.EMPTY_UTF8;
            case "bytes" -> new byte[0];
            default -> 0L;
        };
    }

    private static Decimal unsigned(long bits) {
        BigInteger number = bits >= 0 ? BigInteger.valueOf(bits) : new BigInteger(Long.toUnsignedString(bits));
        return Decimal.apply(new BigDecimal(number), UNSIGNED_DIGITS, 0);
    }
}
