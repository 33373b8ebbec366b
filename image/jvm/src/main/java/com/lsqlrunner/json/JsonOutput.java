package com.lsqlrunner.json;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** A growing array for the bytes of a JSON text, reused for the next text. */
final class JsonOutput {
    private static final int SMALLEST_BUFFER = 256;
    /** The most characters of a long, with its sign. */
    private static final int MOST_DIGITS = 20;

    /** Doubles from this one up to below the next one are written without an exponent. */
    private static final double SMALLEST_PLAIN = 1e-3;

    private static final double LARGE = 1e6;

    /** With this number of digits after the point, doubles below LARGE have at most 15 digits. */
    private static final int FRACTION_DIGITS = 9;

    private static final long FRACTION_UNIT = 1_000_000_000L;

    private byte[] bytes = new byte[SMALLEST_BUFFER];
    private int size;

    /** Discards the text. */
    void clear() {
        size = 0;
    }

    /** A copy of the text. */
    byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    private void reserve(int count) {
        if (bytes.length - size < count) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(size, count)));
        }
    }

    void write(byte[] text) {
        reserve(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
    }

    void write(char character) {
        reserve(1);
        bytes[size++] = (byte) character;
    }

    void writeLong(long value) {
        if (value == Long.MIN_VALUE) { // its absolute value is not a long
            write(utf8(Long.toString(value)));
            return;
        }
        reserve(MOST_DIGITS);
        if (value < 0) {
            bytes[size++] = '-';
        }
        putDigits(Math.abs(value));
    }

    private void putDigits(long value) {
        int count = 1;
        for (long rest = value / 10; rest != 0; rest /= 10) {
            count++;
        }
        long rest = value;
        for (int i = size + count - 1; i >= size; i--) {
            bytes[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        size += count;
    }

    /** Writes the text of {@link Double#toString}; in quotes if it is not a number. */
    void writeDouble(double value) {
        if (writeShortDouble(value)) {
            return;
        }
        boolean isNumber = Double.isFinite(value);
        write(utf8(isNumber ? Double.toString(value) : '"' + Double.toString(value) + '"'));
    }

    /**
     * Writes a double that is exactly determined by a decimal number of at most 15 digits, like most numbers of
     * records; false for other doubles. No two such numbers have the same double, so this number without trailing zeros
     * is its shortest text.
     */
    private boolean writeShortDouble(double value) {
        double absolute = Math.abs(value);
        if (!(absolute >= SMALLEST_PLAIN && absolute < LARGE)) {
            return false;
        }
        long number = (long) (absolute * FRACTION_UNIT + 0.5);
        if ((double) number / FRACTION_UNIT != absolute) {
            return false;
        }
        reserve(MOST_DIGITS);
        if (value < 0) {
            bytes[size++] = '-';
        }
        putDigits(number / FRACTION_UNIT);
        bytes[size++] = '.';
        int rest = (int) (number % FRACTION_UNIT);
        int digits = FRACTION_DIGITS;
        for (; digits > 1 && rest % 10 == 0; digits--) {
            rest /= 10;
        }
        for (int i = size + digits - 1; i >= size; i--) {
            bytes[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        size += digits;
        return true;
    }

    /** Writes the text of a number; in quotes if it is not a number, but {@code NaN} or {@code Infinity}. */
    void writeNumber(UTF8String text) {
        int length = text.numBytes();
        int first = text.getByte(0) == '-' && length > 1 ? text.getByte(1) : text.getByte(0);
        if (first < '0' || first > '9') {
            writeString(text);
            return;
        }
        reserve(length);
        text.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + size);
        size += length;
    }

    /** Writes a string, with quotes and escapes. */
    void writeString(UTF8String text) {
        int length = text.numBytes();
        reserve(length + 2);
        int start = size + 1;
        text.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + start);
        if (!isPlain(bytes, start, length, text)) {
            write(quoted(text.toString()));
            return;
        }
        bytes[start - 1] = '"';
        bytes[start + length] = '"';
        size = start + length + 1;
    }

    /** Writes a date in quotes; false, without writing, if the year has not four digits. */
    boolean writeDate(int day) {
        reserve(JsonTimes.DATE_LENGTH + 2);
        return JsonTimes.writeDate(day, bytes, size + 1) && quote(JsonTimes.DATE_LENGTH);
    }

    /** Writes a timestamp in quotes, with milliseconds; false, without writing, if the year has not four digits. */
    boolean writeTimestamp(long micros) {
        reserve(JsonTimes.TIMESTAMP_LENGTH + 2);
        return JsonTimes.writeTimestamp(micros, bytes, size + 1) && quote(JsonTimes.TIMESTAMP_LENGTH);
    }

    /** Writes a time of day, in nanoseconds, in quotes. */
    void writeTime(long nanos) {
        reserve(JsonTimes.TIME_LENGTH + 2);
        quote(JsonTimes.writeTime(nanos, bytes, size + 1));
    }

    private boolean quote(int length) {
        bytes[size] = '"';
        bytes[size + length + 1] = '"';
        size += length + 2;
        return true;
    }

    /** Whether a text is valid UTF-8 that needs no escapes. */
    private static boolean isPlain(byte[] bytes, int start, int length, UTF8String text) {
        boolean isAscii = true;
        for (int i = start; i < start + length; i++) {
            byte next = bytes[i];
            if (next < ' ') {
                if (next >= 0) {
                    return false;
                }
                isAscii = false;
            } else if (next == '"' || next == '\\') {
                return false;
            }
        }
        return isAscii || text.isValid();
    }

    /** A text as a JSON string in UTF-8. */
    static byte[] quoted(String text) {
        return utf8('"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"');
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
