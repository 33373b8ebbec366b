package com.lsqlrunner.utf16;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares with {@code String}, whose positions are UTF-16 code units. */
class CodeUnitsTest {
    private static UTF8String utf8(String text) {
        return UTF8String.fromBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a", "abc", "é", "añ€b", "😀", "a😀", "😀b", "é😀€😀😀x"})
    void lengthsAndPartsAreThoseOfString(String text) {
        assertEquals(text.length(), CodeUnits.length(utf8(text)));
        for (int count = -1; count <= text.length() + 1; count++) {
            int cut = Math.max(0, Math.min(count, text.length()));
            assertEquals(utf8(text.substring(0, cut)), CodeUnits.take(utf8(text), count), "take " + count);
            assertEquals(utf8(text.substring(cut)), CodeUnits.drop(utf8(text), count), "drop " + count);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "b", "😀", "😀b", "€", "bc", "aab", "no", "longer than the text, which is short"})
    void positionsAreThoseOfString(String part) {
        for (String text : new String[] {"", "aaab", "é😀b😀bc", "x€€"}) {
            assertEquals(text.indexOf(part), CodeUnits.indexOf(utf8(text), utf8(part)), text);
        }
    }
}
