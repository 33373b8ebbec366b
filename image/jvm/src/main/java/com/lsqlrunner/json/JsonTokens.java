package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.ErrorChain;
import com.lsqlrunner.errors.MalformedRecordException;
import java.io.IOException;
import java.util.Arrays;
import java.util.regex.Pattern;

/** Records as the tokens of Jackson, strictly by RFC 8259, and the errors of records that are not one JSON object. */
final class JsonTokens {
    static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(RecordBudget.MAX_DEPTH)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .build())
            .build();
    /** The start of Jackson's description of the position in its source. */
    private static final Pattern SOURCE_POSITION =
            Pattern.compile("\\s*\\((?:start marker )?at \\[Source|\\s*at \\[Source");

    private JsonTokens() {}

    /** A parser of a record that may be JSON in UTF-8; malformed if it is empty or in UTF-16. */
    static JsonParser of(byte[] record) throws IOException {
        if (record.length == 0) {
            throw empty();
        }
        if (isUtf16(record)) {
            throw new MalformedRecordException("it is not JSON in UTF-8");
        }
        return JSON.createParser(record);
    }

    /** Whether Jackson would read the text as UTF-16 or UTF-32, in which JSON's characters contain zero bytes. */
    private static boolean isUtf16(byte[] text) {
        int first = text[0] & 0xFF;
        return first == 0 || first >= 0xFE || (text.length > 1 && text[1] == 0);
    }

    /** Reads the first token. */
    static void readFirst(JsonParser json) throws IOException {
        if (json.nextToken() == null) {
            throw empty();
        }
    }

    /** Reads the start of the object that is the record. */
    static void readStart(JsonParser json) throws IOException {
        readFirst(json);
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw mismatch(json, "an object");
        }
    }

    /** Reads the end of the record, after its object. */
    static void readEnd(JsonParser json) throws IOException {
        if (json.nextToken() != null) {
            throw new MalformedRecordException("there is text after the object");
        }
    }

    private static MalformedRecordException empty() {
        return new MalformedRecordException("the record is empty");
    }

    /** The error of a record that Jackson did not read. */
    static MalformedRecordException notJson(IOException error) {
        return error instanceof StreamConstraintsException // only the depth is limited
                ? RecordBudget.tooDeep()
                : new MalformedRecordException(
                        SOURCE_POSITION.split(ErrorChain.link(error).reason(), 2)[0].strip());
    }

    /** The error of a value that does not have the type of its field. */
    static MalformedRecordException mismatch(JsonParser json, String expected) {
        String kind =
                switch (json.currentToken()) {
                    case START_OBJECT -> "an object";
                    case START_ARRAY -> "an array";
                    case VALUE_STRING -> "a text";
                    case VALUE_TRUE, VALUE_FALSE -> "a boolean";
                    case VALUE_NULL -> "null";
                    default -> "a number";
                };
        return new MalformedRecordException("%s is not %s".formatted(kind, expected));
    }

    /** The bytes of the object or array that begins with the current token, which is read to its end. */
    static byte[] bytesOf(JsonParser json, byte[] record) throws IOException {
        int start = (int) json.currentTokenLocation().getByteOffset();
        json.skipChildren();
        return Arrays.copyOfRange(record, start, (int) json.currentLocation().getByteOffset());
    }
}
