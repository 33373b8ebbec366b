package com.lsqlrunner.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.expression.ValueText;
import com.lsqlrunner.value.Types;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Documents of an order with the attribute {@code id}, {@code who}, {@code line} (repeated, with {@code sku}) and
 * {@code price}.
 */
final class XmlTest {
    private static final DataType TEXT = Types.named("string");
    private static final StructType PRICE = Types.struct("_VALUE", Types.named("decimal(9,2)"), "_currency", TEXT);
    private static final StructType LINE = Types.struct("sku", TEXT, "qty", Types.named("int"));
    private static final StructType TYPE = Types.struct(
            "_id",
            Types.named("long"),
            "who",
            TEXT,
            "line",
            Types.array(LINE),
            "price",
            PRICE,
            "tag",
            Types.array(TEXT));

    static Object decoded(String text) {
        return new XmlDecoder(TYPE, "").decode(text.getBytes(StandardCharsets.UTF_8));
    }

    static String reason(String text) {
        return assertThrows(MalformedRecordException.class, () -> decoded(text)).reason();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "<o id=\"7\"><who>bob</who></o> | (7 bob null null null)",
                "<o/> | (null null null null null)",
                "<o><who/></o> | (null  null null null)",
                "<o id=''/> | (null null null null null)",
                "<o><line><sku>a</sku><qty>1</qty></line><line><qty/></line></o> | (null null [(a 1) (null null)] null null)",
                "<o><price currency=\"EUR\"> 1.50 </price></o> | (null null null (1.50 EUR) null)",
                "<o><price currency=\"EUR\"/></o> | (null null null (null EUR) null)",
                "<o><tag>a</tag><who>b</who><tag/><tag>c</tag></o> | (null b null null [a  c])",
                "<o><who>a&amp;&#98;<![CDATA[<c>]]><!-- no -->d</who></o> | (null a&b<c>d null null null)",
                "<o><unknown><who>x</who><deep><who/></deep></unknown><who>y</who></o> | (null y null null null)",
                "<?xml version=\"1.0\"?><?pi x?><!-- c --><o><who>y</who></o> | (null y null null null)",
                "<n:o xmlns:n=\"u\" n:id=\"3\"><n:who>y</n:who></n:o> | (3 y null null null)",
                "<o xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"><who i:nil=\"true\"/><line i:nil=\"1\"/></o>"
                        + " | (null null [null] null null)",
                "<o>text<who>y</who>more</o> | (null y null null null)"
            })
    void aDocumentIsDecodedToAStruct(String text, String shown) {
        assertEquals(shown, ValueText.of(decoded(text)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "~~ | it is not XML, at line 1, column 0: Unexpected EOF in prolog",
                "{\"who\": 1} | it is not XML, at line 1, column 1: Unexpected character '{' (code 123) in prolog; expected '<'",
                "<o><who>x</o> | field who: it is not XML, at line 1, column 12: Unexpected close tag </o>; expected </who>.",
                "<o/><o/> | it is not XML, at line 1, column 6: Illegal to have multiple roots (start tag in epilog?).",
                "<o/>x | it is not XML, at line 1, column 5: Unexpected character 'x' (code 120) in epilog; expected '<'",
                "<o><who>a</who><who>b</who></o> | field who: it is repeated, but is not an array",
                "<o><who><first>a</first></who></o> | field who: it contains an element, first",
                "<o><who>&e;</who></o> | field who: it is not XML, at line 1, column 11: Undeclared general entity \"e\"",
                "<o id=\"x\"/> | field _id: \"x\" is not a valid long",
                "<o><price>x</price></o> | field price._VALUE: \"x\" is not a valid decimal(9,2)",
                "<o><line><qty>x</qty></line></o> | field line[0].qty: \"x\" is not a valid int"
            })
    void aDocumentWithErrorsIsMalformed(String text, String reason) {
        assertEquals(reason, reason(text));
    }

    @Test
    void theNameOfTheRootMayBeRequired() {
        XmlDecoder decoder = new XmlDecoder(TYPE, "order");

        assertEquals("(1 null null null null)", ValueText.of(decoder.decode("<order id='1'/>".getBytes())));
        MalformedRecordException error =
                assertThrows(MalformedRecordException.class, () -> decoder.decode("<fault id='1'/>".getBytes()));
        assertEquals("its root is fault, not order", error.reason());
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-8", "UTF-16", "ISO-8859-1"})
    void theEncodingOfTheXmlDeclarationIsUsed(String name) {
        String text = "<?xml version=\"1.0\" encoding=\"%s\"?><o><who>grün</who></o>".formatted(name);

        Object value = new XmlDecoder(TYPE, "").decode(text.getBytes(Charset.forName(name)));

        assertEquals("(null grün null null null)", ValueText.of(value));
    }

    @ParameterizedTest
    @CsvSource({
        "3c6f3e3c77686f3eff3c2f77686f3e3c2f6f3e, it is not UTF-8",
        "feff003c00, it is not UTF-16BE",
        "3c3f786d6c2076657273696f6e3d27312e302720656e636f64696e673d27666f6f273f3e3c6f2f3e, 'its encoding, foo, is unknown'"
    })
    void bytesThatAreNotInTheEncodingAreMalformed(String hex, String reason) {
        byte[] record = HexFormat.of().parseHex(hex);

        assertEquals(
                reason,
                assertThrows(MalformedRecordException.class, () -> new XmlDecoder(TYPE, "").decode(record))
                        .reason());
    }

    @Test
    void aByteOrderMarkIsIgnored() {
        byte[] record = HexFormat.of().parseHex("efbbbf3c6f2f3e");

        assertEquals("(null null null null null)", ValueText.of(new XmlDecoder(TYPE, "").decode(record)));
    }

    @Test
    void aDecoderCanBeUsedAfterAMalformedRecord() {
        XmlDecoder decoder = new XmlDecoder(TYPE, "");
        for (String bad : List.of("<o><who>", "<o><who>a</who><who>b</who></o>", "<!DOCTYPE o><o/>", "\0")) {
            assertThrows(MalformedRecordException.class, () -> decoder.decode(bad.getBytes(StandardCharsets.UTF_8)));

            assertEquals("(1 null null null null)", ValueText.of(decoder.decode("<o id='1'/>".getBytes())));
        }
    }

    @Test
    void deepNestingAndManyCommentsAreRead() {
        int many = 200_000;
        String deep = "<o>" + "<x>".repeat(490) + "</x>".repeat(490) + "<who>y</who></o>";
        String divided = "<o><who>" + "y<!---->".repeat(many) + "</who></o>";

        assertEquals("(null y null null null)", ValueText.of(decoded(deep)));
        assertTimeout(
                Duration.ofSeconds(20),
                () -> assertTrue(ValueText.of(decoded(divided)).contains("y".repeat(many))));
        assertTimeout(Duration.ofSeconds(20), () -> reason("<o>" + "<x>".repeat(many)));
    }

    @Test
    void randomBytesGiveAValueOrAReason() {
        XmlDecoder decoder = new XmlDecoder(TYPE, "");
        String[] fragments = {
            "<o>",
            "</o>",
            "<who>",
            "</who>",
            "<line>",
            "</line>",
            "<",
            ">",
            "/",
            "&",
            ";",
            "&lt;",
            "&#1",
            "1",
            "id='",
            "'",
            "<![CDATA[",
            "]]>",
            "<!--",
            "-->",
            "<?",
            "?>",
            "<!DOCTYPE o [",
            "<!ENTITY e '",
            "%e;",
            "\u0000",
            "é",
            "\ud83e",
            "<?xml version='1.0' encoding='",
            "UTF-16",
            "EBCDIC-CP-US",
            "xmlns:a='",
            "a:"
        };
        Random random = new Random(1);
        int decoded = 0;
        for (int i = 0; i < 60_000; i++) {
            StringBuilder text = new StringBuilder(random.nextBoolean() ? "<o>" : "");
            boolean isClosed = text.length() > 0 && random.nextBoolean();
            for (int parts = random.nextInt(8); parts > 0; parts--) {
                text.append(fragments[random.nextInt(fragments.length)]);
            }
            byte[] record = text.append(isClosed ? "</o>" : "").toString().getBytes(StandardCharsets.UTF_8);
            if (record.length > 0 && random.nextInt(4) == 0) {
                record[random.nextInt(record.length)] = (byte) random.nextInt();
            }
            try {
                decoder.decode(record);
                decoded++;
            } catch (MalformedRecordException expected) {
                assertFalse(expected.reason().isEmpty());
            }
        }
        assertTrue(decoded > 100, "too few of the random documents were valid: " + decoded);
    }
}
