package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.SchemaMismatchException;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Values of every type, written by Avro's own encoder, decoded and encoded again: the value is as expected, and the
 * bytes are the same.
 */
final class TypesTest {
    private static final String E = "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\",\"B\"]}";
    private static final String TWELVE = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":12%s}";
    private static final byte[] DURATION = HexFormat.of().parseHex("010000000200000003000000");
    private static final String UUID = "123e4567-e89b-12d3-a456-426614174000";

    static String logical(String type, String logical) {
        return "{\"type\":\"%s\",\"logicalType\":\"%s\"}".formatted(type, logical);
    }

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    private static Object fixed(String type, byte[] value) {
        return new GenericData.Fixed(Records.schema(type), value);
    }

    private static Arguments of(String schema, Object value, String type, String shown) {
        return Arguments.of(schema, value, type, shown);
    }

    static Stream<Arguments> values() {
        return Stream.of(
                of("\"boolean\"", true, "boolean", "true"),
                of("\"boolean\"", false, "boolean", "false"),
                of("\"int\"", Integer.MIN_VALUE, "int", "-2147483648"),
                of("\"int\"", Integer.MAX_VALUE, "int", "2147483647"),
                of("\"long\"", Long.MIN_VALUE, "bigint", "-9223372036854775808"),
                of("\"long\"", -1L, "bigint", "-1"),
                of("\"float\"", 1.5f, "float", "1.5"),
                of("\"double\"", -2.25, "double", "-2.25"),
                of("\"string\"", "", "string", ""),
                of("\"string\"", "grün 🦊", "string", "grün 🦊"),
                of("\"bytes\"", bytes("00ff"), "binary", "00ff"),
                of(E, new GenericData.EnumSymbol(Records.schema(E), "B"), "string", "B"),
                of(TWELVE.formatted(""), fixed(TWELVE.formatted(""), DURATION), "binary", "010000000200000003000000"),
                of("{\"type\":\"array\",\"items\":\"int\"}", List.of(1, 2, 3), "array<int>", "[1 2 3]"),
                of("{\"type\":\"array\",\"items\":\"int\"}", List.of(), "array<int>", "[]"),
                of("{\"type\":\"map\",\"values\":\"long\"}", Map.of("a", 1L), "map<string,bigint>", "{a=1}"),
                of("[\"null\",\"int\"]", null, "int", "null"),
                of("[\"null\",\"int\"]", 5, "int", "5"),
                of("[\"int\",\"null\"]", 5, "int", "5"),
                of("[\"int\",\"null\"]", null, "int", "null"),
                of("[\"int\",\"long\"]", 5L, "bigint", "5"),
                of("[\"float\",\"double\"]", 5.0, "double", "5.0"),
                of("[\"null\",\"string\",\"int\"]", 5, "struct<member0:string,member1:int>", "(null 5)"),
                of("[\"null\",\"string\",\"int\"]", "x", "struct<member0:string,member1:int>", "(x null)"),
                of("[\"null\",\"string\",\"int\"]", null, "struct<member0:string,member1:int>", "null"));
    }

    static Stream<Arguments> logicalValues() {
        String decimal = "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":%d,\"scale\":2}";
        String decimal12 = TWELVE.formatted(",\"logicalType\":\"decimal\",\"precision\":20,\"scale\":3");
        String uuid16 = "{\"type\":\"fixed\",\"name\":\"U\",\"size\":16,\"logicalType\":\"uuid\"}";
        byte[] wide = HexFormat.of().parseHex("ffffffffffffffffffffff85");
        String duration = TWELVE.formatted(",\"logicalType\":\"duration\"");
        return Stream.of(
                of(decimal.formatted(4), bytes("d8f1"), "decimal(4,2)", "-99.99"),
                of(
                        decimal.formatted(38),
                        ByteBuffer.wrap(BigInteger.TEN.pow(37).toByteArray()),
                        "decimal(38,2)",
                        "1" + "0".repeat(35) + ".00"),
                of(decimal12, fixed(decimal12, wide), "decimal(20,3)", "-0.123"),
                of(logical("int", "date"), 19000, "date", "19000"),
                of(logical("int", "time-millis"), 86_399_999, "time(6)", "86399999000000"),
                of(logical("long", "time-micros"), 86_399_999_999L, "time(6)", "86399999999000"),
                of(logical("long", "timestamp-millis"), -1L, "timestamp", "-1000"),
                of(logical("long", "timestamp-micros"), -1L, "timestamp", "-1"),
                of(logical("long", "timestamp-nanos"), -5000L, "timestamp", "-5"),
                of(logical("long", "local-timestamp-millis"), 1L, "timestamp_ntz", "1000"),
                of(logical("long", "local-timestamp-micros"), 1L, "timestamp_ntz", "1"),
                of(logical("long", "local-timestamp-nanos"), 1000L, "timestamp_ntz", "1"),
                of(logical("string", "uuid"), UUID, "string", UUID),
                of(uuid16, fixed(uuid16, bytes(UUID.replace("-", "")).array()), "string", UUID),
                of(duration, fixed(duration, DURATION), "binary", "010000000200000003000000"));
    }

    @ParameterizedTest
    @MethodSource({"values", "logicalValues"})
    void aValueIsDecoded(String text, Object value, String type, String shown) {
        Schema schema = Records.schema(text);

        Object decoded = Records.decoded(schema, schema, Records.bytes(Records.ID, schema, value));

        assertEquals(shown, Records.shown(decoded));
        assertEquals(type, Records.shown(CatalystTypes.of(schema)));
    }

    @ParameterizedTest
    @MethodSource({"values", "logicalValues"})
    void aDecodedValueIsEncodedToTheSameBytes(String text, Object value, String type, String shown) {
        Schema schema = Records.schema(text);
        byte[] record = Records.bytes(Records.ID, schema, value);

        Object decoded = Records.decoded(schema, schema, record);

        assertArrayEquals(record, new RecordEncoder(CatalystTypes.of(schema), schema, Records.ID).encode(decoded));
    }

    @Test
    void nestedRecordsAreEncodedAsAvroReadsThem() throws IOException {
        Schema schema = Records.record(
                Records.field("a", "[\"null\",\"string\"]"),
                Records.field(
                        "in",
                        "{\"type\":\"record\",\"name\":\"In\",\"fields\":[{\"name\":\"x\",\"type\":\"double\"}]}"),
                Records.field("more", "{\"type\":\"array\",\"items\":\"In\"}"));
        Object in = Records.of(schema.getField("in").schema(), 0.5);
        Object whole = Records.of(schema, "x", in, List.of(in, in));

        Object decoded = Records.decoded(schema, schema, Records.bytes(Records.ID, schema, whole));
        byte[] encoded = new RecordEncoder(CatalystTypes.of(schema), schema, Records.ID).encode(decoded);

        assertEquals("(x (0.5) [(0.5) (0.5)])", Records.shown(decoded));
        assertEquals(whole.toString(), Records.read(schema, encoded).toString());
    }

    @Test
    void nanosecondsAreRoundedDownToMicroseconds() {
        Schema schema = Records.schema(logical("long", "timestamp-nanos"));

        assertEquals(-2L, Records.decoded(schema, schema, Records.bytes(Records.ID, schema, -1001L)));
    }

    @Test
    void aBlockMayStartWithItsSizeInBytes() {
        Schema schema = Records.schema("{\"type\":\"array\",\"items\":\"int\"}");
        byte[] record = HexFormat.of().parseHex("000000000703040204020600");

        assertEquals("[1 2 3]", Records.shown(Records.decoded(schema, schema, record)));
    }

    @Test
    void aRecursiveTypeIsReportedWithItsField() {
        String list = "{\"type\":\"record\",\"name\":\"L\",\"fields\":[{\"name\":\"next\",\"type\":[\"null\",\"L\"]}]}";

        SchemaMismatchException error = assertThrows(SchemaMismatchException.class, () -> Records.schema(list));

        assertEquals("the type L contains itself: field next", error.reason());
    }

    @Test
    void aTypeThatIsUsedTwiceIsNotRecursive() {
        String twice = "{\"type\":\"record\",\"name\":\"T\",\"fields\":[{\"name\":\"a\",\"type\":"
                + E
                + "},{\"name\":\"b\",\"type\":\"E\"}]}";

        assertEquals("struct<a:string,b:string>", Records.shown(CatalystTypes.of(Records.schema(twice))));
    }

    @Test
    void aTextThatIsNotASchemaIsRefused() {
        assertThrows(SchemaMismatchException.class, () -> Records.schema("{\"type\":\"nothing\"}"));
        assertThrows(SchemaMismatchException.class, () -> Records.schema("{"));
    }
}
