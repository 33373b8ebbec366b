package com.lsqlrunner.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExtendJsonTest {
    private static final StructType NONE = new StructType();

    private static String extend(String source, String fields) {
        return extend(source, fields, NONE);
    }

    private static String extend(String source, String fields, StructType extended) {
        return new String(ExtendJson.extended(source.getBytes(UTF_8), fields.getBytes(UTF_8), extended), UTF_8);
    }

    @Test
    void addsFieldsAfterTheExistingOnes() {
        assertEquals("{\"a\":1,\"b\":2}", extend("{\"a\": 1}", "{\"b\":2}"));
    }

    @Test
    void replacesFieldsOfTheSameName() {
        assertEquals("{\"b\":[],\"a\":{\"c\":null}}", extend("{\"a\":{\"x\":[1,2]},\"b\":[]}", "{\"a\":{\"c\":null}}"));
    }

    @Test
    void keepsDigitsAndNestingOfUnknownFields() {
        String source =
                "{\"n\":1.0,\"e\":1e400,\"big\":123456789012345678901234567890,\"deep\":[{\"k\":[true,null,\"\\u00e9\"]}]}";
        String expected =
                "{\"n\":1.0,\"e\":1e400,\"big\":123456789012345678901234567890,\"deep\":[{\"k\":[true,null,\"é\"]}],\"z\":0}";
        assertEquals(expected, extend(source, "{\"z\":0}"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'a':1,'meta':{'x':5.0,'y':6}} | {'a':1,'meta':{'x':5.0,'y':6,'v':{'n':1}}}",
                "{'meta':{'v':{'n':0,'m':2}}} | {'meta':{'v':{'m':2,'n':1}}}",
                "{'meta':{'v':null}} | {'meta':{'v':{'n':1}}}",
                "{'a':1} | {'a':1,'meta':{'v':{'n':1}}}",
                "{'meta':null} | {'meta':{'v':{'n':1}}}",
                "{'meta':{'x':1},'meta':{'y':2}} | {'meta':{'y':2,'v':{'n':1}}}"
            })
    void setsFieldsInsideOfObjects(String source, String expected) {
        StructType extended = NONE.add("meta", NONE.add("v", NONE));

        assertEquals(json(expected), extend(json(source), "{\"meta\":{\"v\":{\"n\":1}}}", extended));
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }

    @Test
    void onlyObjectsHaveFields() {
        StructType extended = NONE.add("meta", NONE.add("v", NONE));

        MalformedRecordException error = assertThrows(
                MalformedRecordException.class,
                () -> extend("{\"meta\":{\"v\":5}}", "{\"meta\":{\"v\":{}}}", extended));

        assertEquals("field meta.v: a number is not an object", error.reason());
    }

    @ParameterizedTest
    @ValueSource(strings = {"[1]", "{'a':", "{'a':1}{'a':2}", "{'a':1} x", "{'a':NaN}", "", " ", "{'a':'\\x'}"})
    void refusesTextThatIsNotOneObject(String source) {
        assertThrows(MalformedRecordException.class, () -> extend(json(source), "{}"));
    }
}
