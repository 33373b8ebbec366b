package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records that one schema wrote, read with another. */
final class EvolutionTest {
    private static final Schema AB = Records.record(Records.field("a", "\"int\""), Records.field("b", "\"string\""));

    private static String read(Schema writer, Schema reader, Object value) {
        return Records.shown(Records.decoded(writer, reader, Records.bytes(Records.ID, writer, value)));
    }

    private static String refusal(Schema writer, Schema reader, Object value) {
        return assertThrows(MalformedRecordException.class, () -> read(writer, reader, value))
                .reason();
    }

    private static Schema enumOf(String symbols, String more) {
        return Records.schema("{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[%s]%s}".formatted(symbols, more));
    }

    @Test
    void anAddedFieldIsReadAsItsDefault() {
        Schema reader = Records.record(
                Records.field("a", "\"int\""),
                Records.field("c", "{\"type\":\"array\",\"items\":\"string\"}", "[\"x\"]"),
                Records.field("d", "[\"null\",\"int\"]", "null"),
                Records.field("b", "\"string\""));

        assertEquals("(1 [x] null b)", read(AB, reader, Records.of(AB, 1, "b")));
    }

    @Test
    void aRemovedFieldIsSkipped() {
        assertEquals("(b)", read(AB, Records.record(Records.field("b", "\"string\"")), Records.of(AB, 1, "b")));
    }

    @Test
    void aRemovedFieldMayBeRecursive() {
        Schema writer = new Schema.Parser()
                .parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":["
                        + "{\"name\":\"next\",\"type\":[\"null\",\"R\"]},{\"name\":\"a\",\"type\":\"int\"}]}");

        String read = read(
                writer,
                Records.record(Records.field("a", "\"int\"")),
                Records.of(writer, Records.of(writer, null, 1), 2));

        assertEquals("(2)", read);
    }

    @Test
    void removedFieldsOfEveryTypeAreSkipped() {
        Schema writer = Records.record(
                Records.field("n", "\"null\""),
                Records.field("z", "\"boolean\""),
                Records.field("f", "\"float\""),
                Records.field("d", "\"double\""),
                Records.field("x", "{\"type\":\"fixed\",\"name\":\"X\",\"size\":3}"),
                Records.field("m", "{\"type\":\"map\",\"values\":{\"type\":\"array\",\"items\":\"bytes\"}}"),
                Records.field("a", "\"int\""));
        Object fixed = new GenericData.Fixed(writer.getField("x").schema(), new byte[3]);
        Object map = Map.of("k", List.of(ByteBuffer.wrap(new byte[9])));

        Object value = Records.of(writer, null, true, 1f, 1d, fixed, map, 5);

        assertEquals("(5)", read(writer, Records.record(Records.field("a", "\"int\"")), value));
    }

    @Test
    void fieldsMayBeReordered() {
        Schema reader = Records.record(Records.field("b", "\"string\""), Records.field("a", "\"int\""));

        assertEquals("(b 1)", read(AB, reader, Records.of(AB, 1, "b")));
    }

    @Test
    void anAliasMatchesARenamedField() {
        String renamed = "{\"name\":\"id\",\"type\":\"int\",\"aliases\":[\"a\"]}";

        assertEquals(
                "(1 b)", read(AB, Records.record(renamed, Records.field("b", "\"string\"")), Records.of(AB, 1, "b")));
    }

    @ParameterizedTest
    @CsvSource({
        "int,long,1,1",
        "int,float,1,1.0",
        "int,double,1,1.0",
        "long,float,1,1.0",
        "long,double,1,1.0",
        "float,double,1,1.0",
        "string,bytes,1,31",
        "bytes,string,1,1"
    })
    void aValueIsPromoted(String from, String to, String text, String shown) {
        Object value =
                switch (from) {
                    case "int" -> 1;
                    case "long" -> 1L;
                    case "float" -> 1f;
                    case "bytes" -> ByteBuffer.wrap(text.getBytes());
                    default -> text;
                };

        assertEquals(shown, read(Records.schema("\"" + from + "\""), Records.schema("\"" + to + "\""), value));
    }

    @Test
    void aFieldMayBecomeNullableOrNotNullable() {
        Schema plain = Records.schema("\"int\"");
        Schema nullable = Records.schema("[\"null\",\"long\"]");

        assertEquals("1", read(plain, nullable, 1));
        assertEquals("1", read(nullable, Records.schema("\"long\""), 1L));
        assertEquals(
                "it was written as null, which cannot be read as long",
                refusal(nullable, Records.schema("\"long\""), null));
    }

    @Test
    void aUnionMayGrow() {
        Schema wide = Records.schema("[\"null\",\"string\",\"long\"]");

        assertEquals("(null 1)", read(Records.schema("[\"int\",\"null\"]"), wide, 1));
        assertEquals("null", read(Records.schema("[\"int\",\"null\"]"), wide, null));
        assertEquals("1", read(Records.schema("\"int\""), Records.schema("[\"int\",\"long\"]"), 1));
        assertEquals("1.0", read(Records.schema("\"float\""), Records.schema("[\"float\",\"double\"]"), 1f));
    }

    @Test
    void anEnumMayLoseSymbols() {
        Schema writer = enumOf("\"A\",\"B\",\"C\"", "");
        Object b = new GenericData.EnumSymbol(writer, "B");

        assertEquals("B", read(writer, enumOf("\"C\",\"B\"", ""), b));
        assertEquals("Z", read(writer, enumOf("\"A\",\"Z\"", ",\"default\":\"Z\""), b));
        assertEquals("the enum has no symbol B", refusal(writer, enumOf("\"A\"", ""), b));
    }

    @Test
    void aTimeIsConvertedFromTheUnitOfTheWriter() {
        Schema millis = Records.schema(TypesTest.logical("long", "timestamp-millis"));
        Schema micros = Records.schema(TypesTest.logical("long", "timestamp-micros"));

        assertEquals("2000", read(millis, micros, 2L));
        assertEquals("2", read(micros, millis, 2L));
        assertEquals("2000", read(Records.schema("\"long\""), millis, 2L));
        assertEquals("2", read(millis, Records.schema("\"long\""), 2L));
    }

    @Test
    void aTimeOfDayIsConvertedFromTheUnitOfTheWriter() {
        Schema millis = Records.schema(TypesTest.logical("int", "time-millis"));
        Schema micros = Records.schema(TypesTest.logical("long", "time-micros"));

        assertEquals("2000000", read(millis, micros, 2));
        assertEquals("2000000", read(Records.schema("\"int\""), millis, 2));
        assertEquals("2", read(millis, Records.schema("\"int\""), 2));
        assertEquals("a time is not within a day", refusal(millis, micros, 86_400_000));
        assertEquals("a time is not within a day", refusal(micros, micros, -1L));
    }

    @Test
    void aDecimalIsConvertedFromTheScaleOfTheWriter() {
        String decimal = "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":%d,\"scale\":%d}";
        Schema cents = Records.schema(decimal.formatted(5, 2));
        ByteBuffer value = ByteBuffer.wrap(new byte[] {100});

        assertEquals("1.000", read(cents, Records.schema(decimal.formatted(5, 3)), value));
        assertEquals("1", read(cents, Records.schema(decimal.formatted(5, 0)), value));
        assertEquals(
                "a decimal has more than 1 digits after the decimal point",
                refusal(cents, Records.schema(decimal.formatted(5, 1)), ByteBuffer.wrap(new byte[] {101})));
        assertEquals(
                "a decimal has more than 2 digits", refusal(cents, Records.schema(decimal.formatted(2, 2)), value));
    }

    @Test
    void aMissingFieldWithoutDefaultIsReported() {
        Schema reader = Records.record(Records.field("a", "\"int\""), Records.field("c", "\"int\""));

        assertEquals(
                "field c: the writer schema lacks it, and it has no default",
                refusal(AB, reader, Records.of(AB, 1, "b")));
    }

    @Test
    void aFieldOfAnotherTypeIsReported() {
        Schema reader = Records.record(Records.field("a", "\"int\""), Records.field("b", "\"int\""));

        assertEquals(
                "field b: it was written as string, which cannot be read as int",
                refusal(AB, reader, Records.of(AB, 1, "b")));
    }
}
