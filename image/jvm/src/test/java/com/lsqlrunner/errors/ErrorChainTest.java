package com.lsqlrunner.errors;

import static com.lsqlrunner.errors.HiddenValues.hiding;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void theFailureOfAStoreIsTheLastOne() throws Exception {
        Exception refused = new ConnectException("Connection refused");
        refused.setStackTrace(new StackTraceElement[] {
            new StackTraceElement("org.apache.hadoop.fs.s3a.S3AFileSystem", "open", "S3AFileSystem.java", 1)
        });

        JsonNode chain =
                new ObjectMapper().readTree(ErrorChain.json(new IllegalStateException("Job aborted", refused)));

        assertEquals(3, chain.size());
        assertEquals("LSQL_STORE_UNREACHABLE", chain.get(2).get("condition").asText());
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

    private static ErrorChain.Link hidden(Throwable error) {
        return hiding(() -> ErrorChain.link(error));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "[CANNOT_PARSE_TIMESTAMP] Text 's3cr3t' | The text does not match the pattern of the timestamp",
                "[ARITHMETIC_OVERFLOW] s3cr3t | The result is out of the range of its type",
                "[LSQL_GROUP_TOO_LARGE] s3cr3t | *** keeps more than *** MiB of one group",
                "[LSQL_SINK_FAILED] s3cr3t | ***"
            })
    void theTextOfALostExceptionHasNoValues(String message, String expected) {
        String reason = hidden(new RuntimeException("Lost task: " + message)).reason();

        assertEquals(expected, reason);
    }

    @Test
    void theTextOfThisModulesErrorsIsUnchanged() {
        assertEquals(
                "the record has 12 bytes, its topic allows 10",
                hidden(RECORD_TOO_LARGE).reason());
    }

    @Test
    void aMessageWithoutAConditionIsOnlyShownIfItsCodeHasNoValues() {
        Throwable ofNumber = assertThrows(NumberFormatException.class, () -> Integer.parseInt("s3cr3t"));
        Throwable ofDate = assertThrows(DateTimeParseException.class, () -> LocalDate.parse("s3cr3t"));

        assertEquals("", hidden(ofNumber).reason());
        assertEquals("NumberFormatException", hidden(ofNumber).type());
        assertEquals("", hidden(ofDate).reason());
        assertEquals(
                "no such topic",
                hidden(new UnknownTopicOrPartitionException("no such topic")).reason());
        assertEquals("disk full", hidden(new IOException("disk full")).reason());
        assertEquals(
                "integer overflow",
                hidden(assertThrows(ArithmeticException.class, () -> Math.addExact(Integer.MAX_VALUE, 1)))
                        .reason());
    }

    @Test
    void theMessageOfACauseIsCutOff() {
        Throwable error = new UncheckedIOException(new IOException("s3cr3t"));

        assertEquals("", hidden(error).reason());
        assertEquals(
                "it failed:",
                hidden(new KafkaException("it failed: java.lang.NumberFormatException: s3cr3t"))
                        .reason());
    }

    @Test
    void aStackTraceHasMessagesOnlyWithValues() {
        Throwable error = new RuntimeException("outer s3cr3t", new IOException("inner s3cr3t"));

        assertTrue(ErrorChain.stackTrace(error).contains("Caused by: java.io.IOException: inner s3cr3t\n\tat "));
        String hidden = hiding(() -> ErrorChain.stackTrace(error));
        assertTrue(hidden.startsWith("java.lang.RuntimeException\n\tat "), hidden);
        assertFalse(hidden.contains("s3cr3t"), hidden);
    }
}
