package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicalJsonTest {
    private static String canonical(String text) {
        return new String(CanonicalJson.canonical(text.getBytes(UTF_8)), UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                " { \"id\" :\t1 } | {\"id\":1}",
                "{\"z\":\"a\",\"id\":1} | {\"id\":1,\"z\":\"a\"}",
                "{\"a\":{\"c\":1,\"b\":[{\"y\":1,\"x\":2}]}} | {\"a\":{\"b\":[{\"x\":2,\"y\":1}],\"c\":1}}",
                "{\"id\":1,\"z\":null} | {\"id\":1}",
                "{\"id\":1,\"id\":2} | {\"id\":2}",
                "{\"id\":1,\"id\":null} | {}",
                "{\"i\\u0064\":\"\\u0061\\/\\u00e9\\n\\\"\"} | {\"id\":\"a/é\\n\\\"\"}",
                "[1.0, 10e-1, 1E0, 0.1e1] | [1,1,1,1]",
                "[100, 1e2, 12.50, -0, -0.0, 0e9] | [100,100,12.5,0,0,0]",
                "[9007199254740993, 9223372036854775807] | [9007199254740993,9223372036854775807]",
                "[10e399, 1e400] | [1E+400,1E+400]",
                "[1e99999, 1e999999999999] | [1e99999,1e999999999999]",
                "[true, false, null] | [true,false,null]",
                " \"a\" | \"a\"",
                " 7 | 7",
            })
    void hasOneTextForEqualValues(String text, String expected) {
        assertEquals(expected, canonical(text));
        assertEquals(expected, canonical(expected));
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "{\"id\":1} | {\"id\":\"1\"}",
                "{\"id\":1} | {\"id\":1,\"unknown\":2}",
                "{\"id\":9007199254740993} | {\"id\":9007199254740992}",
                "[1,2] | [2,1]",
                "[null] | []",
                "{\"a\":{}} | {}",
                "{\"a\":\"\"} | {}",
                "\"null\" | null",
            })
    void hasDifferentTextsForDifferentValues(String text, String other) {
        assertNotEquals(canonical(text), canonical(other));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "{", "{\"id\":1}{", "{\"id\":1} 2", "1,\"x\":2", "{'id':1}", "[NaN]", "nul"})
    void refusesWhatIsNotJson(String text) {
        assertThrows(MalformedRecordException.class, () -> canonical(text));
    }

    @Test
    void refusesValuesThatAreNestedTooDeeply() {
        assertThrows(MalformedRecordException.class, () -> canonical("[".repeat(5_000) + "]".repeat(5_000)));
    }
}
