package com.lsqlrunner.text;

import static com.lsqlrunner.errors.HiddenValues.reason;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.value.TextValues;
import com.lsqlrunner.value.Types;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors of CSV and XML without the values of the record. */
final class HiddenValuesTest {
    private static final StructType TYPE =
            Types.struct("id", Types.named("long"), "who", Types.named("string"), "_at", Types.named("date"));

    @ParameterizedTest
    @ValueSource(strings = {"int", "long", "float", "double", "decimal(5,2)", "boolean", "date", "time", "timestamp"})
    void anInvalidTextIsDescribedByItsLength(String type) {
        assertEquals("a text of 6 bytes is not a valid " + type, reason(() -> TextValues.of(Types.named(type))
                .read(UTF8String.fromString("s3cr3t"))));
    }

    @Test
    void aLineIsDescribedByItsColumn() {
        CsvDecoder decoder = new CsvDecoder(
                Types.struct("id", Types.named("long"), "who", Types.named("string")),
                List.of("id", "who"),
                ",",
                "\"",
                "");

        assertEquals(
                "field id: a text of 6 bytes is not a valid long",
                reason(() -> decoder.decode("s3cr3t,x".getBytes(UTF_8))));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "s3cr3t | it is not XML, at line 1, column 1",
                "<o/>s3cr3t | it is not XML, at line 1, column 5",
                "<o><who>x</s3cr3t></o> | field who: it is not XML, at line 1, column 17",
                "<o><who>&s3cr3t;</who></o> | field who: it is not XML, at line 1, column 16",
                "<o><who><s3cr3t/></who></o> | field who: it contains an element",
                "<o><id>s3cr3t</id></o> | field id: a text of 6 bytes is not a valid long",
                "<o at='s3cr3t'/> | field _at: a text of 6 bytes is not a valid date",
                "<s3cr3t/> | its root is not o",
                "<?xml version='1.0' encoding='s3cr3t'?><o/> | its encoding is unknown"
            })
    void aDocumentIsDescribedByPlaceAndElement(String text, String expected) {
        assertEquals(expected, reason(() -> new XmlDecoder(TYPE, "o").decode(text.getBytes(UTF_8))));
    }
}
