package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class ExtendJsonTest {
    private static String extend(String source, String fields) throws IOException {
        return new String(ExtendJson.extended(source.getBytes(UTF_8), fields.getBytes(UTF_8)), UTF_8);
    }

    @Test
    void addsFieldsAfterTheExistingOnes() throws IOException {
        assertEquals("{\"a\":1,\"b\":2}", extend("{\"a\": 1}", "{\"b\":2}"));
    }

    @Test
    void replacesFieldsOfTheSameName() throws IOException {
        assertEquals("{\"b\":[],\"a\":{\"c\":null}}", extend("{\"a\":{\"x\":[1,2]},\"b\":[]}", "{\"a\":{\"c\":null}}"));
    }

    @Test
    void keepsDigitsAndNestingOfUnknownFields() throws IOException {
        String source =
                "{\"n\":1.0,\"e\":1e400,\"big\":123456789012345678901234567890,\"deep\":[{\"k\":[true,null,\"\\u00e9\"]}]}";
        String expected =
                "{\"n\":1.0,\"e\":1e400,\"big\":123456789012345678901234567890,\"deep\":[{\"k\":[true,null,\"é\"]}],\"z\":0}";
        assertEquals(expected, extend(source, "{\"z\":0}"));
    }

    @Test
    void refusesInputThatIsNotAnObject() {
        assertThrows(IOException.class, () -> extend("[1]", "{}"));
        assertThrows(IOException.class, () -> extend("{\"a\":", "{}"));
    }
}
