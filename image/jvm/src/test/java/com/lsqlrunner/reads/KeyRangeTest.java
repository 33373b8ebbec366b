package com.lsqlrunner.reads;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyRangeTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "9 | 10 | 100 | false",
                "10 | 10 | 100 | true",
                "99.5 | 10 | 100 | true",
                "100 | 10 | 100 | false",
                "-1 | | 0 | true",
                "9007199254740993 | 9007199254740992.5 | | true",
                "\"b\" | \"a\" | \"c\" | true",
                "\"é\" | \"a\" | \"z\" | false",
                "\"\uD83D\uDE00\" | \"\uFFFD\" | | true",
                "true | false | | true",
                "null | | 5 | false",
                "null | 0 | | false",
                "{\"a\":1,\"b\":\"x\"} | {\"a\":1,\"b\":\"w\"} | {\"a\":2,\"b\":\"\"} | true",
                "{\"a\":2,\"b\":\"x\"} | {\"a\":1,\"b\":\"w\"} | {\"a\":2,\"b\":\"\"} | false",
                "{\"a\":null,\"b\":\"x\"} | {\"a\":1,\"b\":\"w\"} | | false",
                "[1,2] | [1] | [1,2,3] | true",
            })
    void keysAreInTheirOrder(String key, String from, String to, boolean isIn) {
        assertEquals(isIn, KeyRange.of(from, to).contains(key));
    }
}
