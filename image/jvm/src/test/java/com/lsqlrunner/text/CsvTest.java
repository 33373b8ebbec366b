package com.lsqlrunner.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.expression.ValueText;
import com.lsqlrunner.value.Types;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of CSV with the columns {@code id} (long), {@code who} (string) and {@code price} (double). */
final class CsvTest {
    private static final StructType TYPE =
            Types.struct("id", Types.named("long"), "who", Types.named("string"), "price", Types.named("double"));
    private static final List<String> NAMES = List.of("id", "who", "price");

    private static byte[] line(String text) {
        return text.replace("\\n", "\n")
                .replace("\\r", "\r")
                .replace("\\t", "\t")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return ValueText.of(new CsvDecoder(TYPE, NAMES, ",", "\"", "").decode(line(text)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "1,bob,2.5 | (1 bob 2.5)",
                "1,bob,2.5\\n | (1 bob 2.5)",
                "1,bob,2.5\\r\\n | (1 bob 2.5)",
                ",, | (null null null)",
                "\"\",\"\",\"\" | (null  null)",
                "\"1\",\"a,b\",\"2\" | (1 a,b 2.0)",
                "1,\"a\"\"b\",2 | (1 a\"b 2.0)",
                "1,\"\"\"\",2 | (1 \" 2.0)"
            })
    void aLineIsDecodedToAStruct(String text, String shown) {
        assertEquals(shown, decoded(text));
    }

    @Test
    void aQuotedTextMayHaveSeveralLines() {
        assertEquals("(1 a\nb 2.0)", decoded("1,\"a\nb\",2"));
    }

    @Test
    void blanksAreSignificantOnlyInStrings() {
        assertEquals("(1  x  2.0)", decoded(" 1 , x , 2 "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "~~ | it is empty",
                "\\n | it is empty",
                "1,bob | it has 2 columns, not 3",
                "1,bob,2,3 | it has 4 columns, not 3",
                "1,bob,2\\n2,eve,3 | it has more than one line",
                "1,bob,2\\n\\n | it has more than one line",
                "x,bob,2 | field id: \"x\" is not a valid long",
                "1,bob,x | field price: \"x\" is not a valid double",
                "1,\"bob,2 | field who: it has no closing quote",
                "1,b\"o\"b,2 | field who: it has a quote within a value that does not begin with one",
                "1,bob,2,\"x | column 4: it has no closing quote",
                "1,\"b\"ob,2 | field who: it continues after its closing quote"
            })
    void aLineWithErrorsIsMalformed(String text, String reason) {
        assertEquals(
                reason,
                assertThrows(MalformedRecordException.class, () -> decoded(text))
                        .reason());
    }

    @Test
    void onlyTheDeclaredColumnsAreRead() {
        CsvDecoder decoder = new CsvDecoder(Types.struct("price", Types.named("double")), NAMES, ",", "\"", "");

        assertEquals("(2.5)", ValueText.of(decoder.decode(line("no number,bob,2.5"))));
    }

    @Test
    void delimiterQuoteAndNullTextAreOptions() {
        CsvDecoder decoder = new CsvDecoder(TYPE, NAMES, "\t", "'", "\\N");

        assertEquals("(1 a\tb null)", ValueText.of(decoder.decode(line("1\\t'a\\tb'\\t\\N"))));
        assertEquals("(null \\N 2.0)", ValueText.of(decoder.decode(line("\\N\\t'\\N'\\t2"))));
    }

    @Test
    void quotesAreTextIfNoQuoteIsSet() {
        CsvDecoder decoder = new CsvDecoder(TYPE, NAMES, ",", "", "");

        assertEquals("(1 5\" pipe 2.0)", ValueText.of(decoder.decode(line("1,5\" pipe,2"))));
    }

    @Test
    void aDecoderCanBeUsedAfterAMalformedRecord() {
        CsvDecoder decoder = new CsvDecoder(TYPE, NAMES, ",", "\"", "");

        assertThrows(MalformedRecordException.class, () -> decoder.decode(line("1,\"bob")));

        assertEquals("(1 bob 2.0)", ValueText.of(decoder.decode(line("1,bob,2"))));
    }

    @Test
    void thousandsOfColumnsAreCounted() {
        MalformedRecordException error =
                assertThrows(MalformedRecordException.class, () -> decoded(",".repeat(10_000)));

        assertEquals("it has 10001 columns, not 3", error.reason());
    }

    @Test
    void randomBytesGiveAValueOrAReason() {
        CsvDecoder decoder = new CsvDecoder(TYPE, NAMES, ",", "\"", "");
        byte[] alphabet = "1,\"\n\r.e-x".getBytes(StandardCharsets.US_ASCII);
        Random random = new Random(1);
        int decoded = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] record = new byte[random.nextInt(12)];
            for (int at = 0; at < record.length; at++) {
                record[at] =
                        random.nextInt(8) == 0 ? (byte) random.nextInt() : alphabet[random.nextInt(alphabet.length)];
            }
            try {
                decoder.decode(record);
                decoded++;
            } catch (MalformedRecordException expected) {
                assertFalse(expected.reason().isEmpty());
            }
        }
        assertFalse(decoded < 100, "too few of the random lines were valid: " + decoded);
    }
}
