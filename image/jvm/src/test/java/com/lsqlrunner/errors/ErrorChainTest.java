package com.lsqlrunner.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ErrorChainTest {
    private static final LsqlException RECORD_TOO_LARGE =
            new LsqlException(Condition.LSQL_RECORD_TOO_LARGE, Map.of("bytes", "12", "limit_bytes", "10"));

    @Test
    void anErrorOfThisModuleHasConditionParametersAndText() {
        ErrorChain.Link link = ErrorChain.link(RECORD_TOO_LARGE);

        assertEquals("LSQL_RECORD_TOO_LARGE", link.condition());
        assertEquals(Map.of("bytes", "12", "limit_bytes", "10"), link.parameters());
        assertEquals("the record has 12 bytes, its topic allows 10", link.reason());
    }

    @Test
    void causesFollowTheOutermostException() {
        RuntimeException outer = new RuntimeException("no condition", RECORD_TOO_LARGE);

        List<ErrorChain.Link> chain = ErrorChain.of(outer);

        assertEquals(
                List.of("", "LSQL_RECORD_TOO_LARGE"),
                chain.stream().map(ErrorChain.Link::condition).toList());
        assertEquals("RuntimeException", chain.get(0).type());
    }

    @Test
    void aConditionInATextIsReadWithoutSparksAdvice() {
        ErrorChain.Link link = ErrorChain.link(
                new ArithmeticException(
                        "Lost task: [CAST_INVALID_INPUT.X] The value 'x' is wrong. Use `try_cast` to get NULL. SQLSTATE: 22018\nat"));

        assertEquals("CAST_INVALID_INPUT", link.condition());
        assertEquals("The value 'x' is wrong", link.reason());
    }

    @Test
    void aReasonIsOneShortLine() {
        assertEquals(
                300,
                ErrorChain.link(new RuntimeException("[A_B] " + "x".repeat(1_000)))
                        .reason()
                        .length());
        assertEquals(
                "first", ErrorChain.link(new RuntimeException("first\nsecond")).reason());
        assertEquals("", ErrorChain.link(new NullPointerException()).reason());
    }

    @Test
    void pythonReadsAJsonArray() throws Exception {
        JsonNode chain = new ObjectMapper().readTree(ErrorChain.json(RECORD_TOO_LARGE));

        assertEquals(1, chain.size());
        assertEquals("12", chain.get(0).get("parameters").get("bytes").asText());
        assertTrue(chain.get(0).has("type")
                && chain.get(0).has("reason")
                && chain.get(0).has("condition"));
    }

    @Test
    void anErrorOfThisModuleCanBeSerialized() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(RECORD_TOO_LARGE);

        LsqlException read =
                (LsqlException) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();

        assertEquals(RECORD_TOO_LARGE.getCondition(), read.getCondition());
        assertEquals(RECORD_TOO_LARGE.getMessageParameters(), read.getMessageParameters());
    }
}
