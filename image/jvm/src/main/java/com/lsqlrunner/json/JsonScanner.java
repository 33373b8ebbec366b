package com.lsqlrunner.json;

import com.lsqlrunner.bytes.RecordBudget;
import java.util.Arrays;

/**
 * A position in the bytes of a JSON text. It recognizes only text that all JSON parsers read in the same way. Each
 * method reports text that it does not recognize, which may be valid; the caller then uses JsonRecordReader for the
 * whole record.
 *
 * <p>Source: RFC 8259 (JSON), RFC 3629 (UTF-8).
 */
final class JsonScanner {
    /** The result of a method that did not recognize the text. */
    static final int UNRECOGNIZED = -1;

    /** The value that a reader returns if it leaves the text to JsonRecordReader. */
    static final Object NOT_READ = new Object();

    private static final int DEEPEST = 64;
    private static final int LONGEST_NUMBER = 100;

    private final RecordBudget budget = new RecordBudget();
    private byte[] text = {};
    private int at;

    void open(byte[] opened) {
        text = opened;
        at = 0;
        budget.start(opened.length);
    }

    /** Counts the values that readers create. */
    RecordBudget budget() {
        return budget;
    }

    /** The index of the next byte. */
    int position() {
        return at;
    }

    /** Whether only white space follows. */
    boolean isAtEnd() {
        return peek() == UNRECOGNIZED && at == text.length;
    }

    /**
     * The next character that is not white space, without reading it; UNRECOGNIZED at the end or if it is not ASCII.
     */
    int peek() {
        while (at < text.length) {
            byte next = text[at];
            if (next > ' ') {
                return next;
            }
            if (next != ' ' && next != '\n' && next != '\r' && next != '\t') {
                return UNRECOGNIZED;
            }
            at++;
        }
        return UNRECOGNIZED;
    }

    /** Reads a character after white space; false, and reads nothing more, if another one follows. */
    boolean read(char expected) {
        if (peek() != expected) {
            return false;
        }
        at++;
        return true;
    }

    /** Reads a text that begins at the position; false if another text follows. */
    boolean read(byte[] expected) {
        int end = at + expected.length;
        if (end > text.length || !Arrays.equals(expected, 0, expected.length, text, at, end)) {
            return false;
        }
        at = end;
        return true;
    }

    /** Reads a word, such as {@code null}, that begins at the position; false if another text follows. */
    boolean read(String word) {
        if (text.length - at < word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            if (text[at + i] != word.charAt(i)) {
                return false;
            }
        }
        at += word.length();
        return true;
    }

    /**
     * Reads the rest of a string, after its first quote. Returns its length in bytes; UNRECOGNIZED if it has escapes or
     * is not valid.
     */
    int readPlainString() {
        int start = at;
        int i = at;
        while (i < text.length) {
            byte next = text[i];
            if (next == '"') {
                at = i + 1;
                return i - start;
            }
            if (next >= ' ' && next != '\\') {
                i++;
                continue;
            }
            int length = next < 0 ? characterLength(i) : UNRECOGNIZED;
            if (length == UNRECOGNIZED) {
                return UNRECOGNIZED;
            }
            i += length;
        }
        return UNRECOGNIZED;
    }

    /** Reads a number. Returns its length in bytes; UNRECOGNIZED if it is not valid or very long. */
    int readNumber() {
        int start = at;
        int i = at;
        if (i < text.length && text[i] == '-') {
            i++;
        }
        int integer = i;
        i = afterDigits(i);
        if (i == integer || (text[integer] == '0' && i > integer + 1)) {
            return UNRECOGNIZED;
        }
        if (i < text.length && text[i] == '.') {
            int fraction = i + 1;
            i = afterDigits(fraction);
            if (i == fraction) {
                return UNRECOGNIZED;
            }
        }
        if (i < text.length && (text[i] == 'e' || text[i] == 'E')) {
            int exponent = i + 1;
            if (exponent < text.length && (text[exponent] == '+' || text[exponent] == '-')) {
                exponent++;
            }
            i = afterDigits(exponent);
            if (i == exponent) {
                return UNRECOGNIZED;
            }
        }
        if (i - start > LONGEST_NUMBER) {
            return UNRECOGNIZED;
        }
        at = i;
        return i - start;
    }

    /** Reads a value of any type; false if it is not recognized. */
    boolean skipValue() {
        return skipValue(0);
    }

    private boolean skipValue(int depth) {
        switch (peek()) {
            case '"':
                at++;
                return skipString();
            case '{':
                at++;
                return depth < DEEPEST && skipObject(depth + 1);
            case '[':
                at++;
                return depth < DEEPEST && skipArray(depth + 1);
            case 't':
                return read("true");
            case 'f':
                return read("false");
            case 'n':
                return read("null");
            default:
                return readNumber() != UNRECOGNIZED;
        }
    }

    private boolean skipObject(int depth) {
        if (read('}')) {
            return true;
        }
        do {
            if (!read('"') || !skipString() || !read(':') || !skipValue(depth)) {
                return false;
            }
        } while (read(','));
        return read('}');
    }

    private boolean skipArray(int depth) {
        if (read(']')) {
            return true;
        }
        do {
            if (!skipValue(depth)) {
                return false;
            }
        } while (read(','));
        return read(']');
    }

    private boolean skipString() {
        while (readPlainString() == UNRECOGNIZED) {
            if (!skipToEscape() || !skipEscape()) {
                return false;
            }
        }
        return true;
    }

    /** Moves to the next backslash of a string; false if the string is not valid up to there. */
    private boolean skipToEscape() {
        while (at < text.length && text[at] != '\\') {
            int length = text[at] >= ' ' ? 1 : text[at] < 0 ? characterLength(at) : UNRECOGNIZED;
            if (length == UNRECOGNIZED) {
                return false;
            }
            at += length;
        }
        return at < text.length;
    }

    private boolean skipEscape() {
        if (at + 1 >= text.length) {
            return false;
        }
        byte escaped = text[at + 1];
        at += 2;
        if (escaped != 'u') {
            return "\"\\/bfnrt".indexOf(escaped) >= 0;
        }
        int end = at + 4;
        if (end > text.length) {
            return false;
        }
        while (at < end) {
            if (Character.digit(text[at++], 16) < 0) {
                return false;
            }
        }
        return true;
    }

    private int afterDigits(int from) {
        int i = from;
        while (i < text.length && text[i] >= '0' && text[i] <= '9') {
            i++;
        }
        return i;
    }

    /** The length of a character of two to four bytes; UNRECOGNIZED if it is not valid UTF-8. */
    private int characterLength(int first) {
        int lead = text[first] & 0xFF;
        int second = continuation(first + 1);
        if (lead < 0xC2 || lead > 0xF4 || second == UNRECOGNIZED) {
            return UNRECOGNIZED;
        }
        if (lead < 0xE0) {
            return 2;
        }
        if (lead < 0xF0) {
            // Without overlong forms and surrogates.
            boolean valid = (lead != 0xE0 || second >= 0xA0) && (lead != 0xED || second < 0xA0);
            return valid && continuation(first + 2) != UNRECOGNIZED ? 3 : UNRECOGNIZED;
        }
        boolean valid = (lead != 0xF0 || second >= 0x90) && (lead != 0xF4 || second < 0x90);
        return valid && continuation(first + 2) != UNRECOGNIZED && continuation(first + 3) != UNRECOGNIZED
                ? 4
                : UNRECOGNIZED;
    }

    /** The byte at an index if it continues a character, as an unsigned number. */
    private int continuation(int index) {
        return index < text.length && (text[index] & 0xC0) == 0x80 ? text[index] & 0xFF : UNRECOGNIZED;
    }
}
