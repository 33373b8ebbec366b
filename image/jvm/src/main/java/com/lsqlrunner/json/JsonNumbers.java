package com.lsqlrunner.json;

import static com.lsqlrunner.json.JsonScanner.NOT_READ;
import static com.lsqlrunner.json.JsonScanner.UNRECOGNIZED;

import java.math.BigDecimal;
import org.apache.spark.sql.types.Decimal;

/** Reads numbers with few digits at the position of a scanner; the result is NOT_READ for all others. */
final class JsonNumbers {
    /** Numbers with more digits may not fit a long, or may not be exact as a double. */
    private static final int MOST_INTEGER_DIGITS = 18;

    private static final int MOST_EXACT_DIGITS = 15;

    /** A number of milliseconds with so many digits fits a long in microseconds. */
    private static final int MOST_MILLIS_DIGITS = 15;

    private static final long MICROS_PER_MILLI = 1_000;

    /** The powers of ten that are exact as a double. */
    private static final double[] POWERS_OF_TEN = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
    };

    private final JsonScanner scanner;

    private boolean negative;
    /** All digits of the number that was read, without its point. */
    private long digits;

    private int count;
    /** The number of digits after the point; UNRECOGNIZED for a number without a point. */
    private int fraction;

    JsonNumbers(JsonScanner scanner) {
        this.scanner = scanner;
    }

    /** A Long. */
    Object readLong(byte[] record) {
        return readLong(record, MOST_INTEGER_DIGITS);
    }

    /** An Integer. */
    Object readInt(byte[] record) {
        Object number = readLong(record);
        return number instanceof Long whole && whole == whole.intValue() ? whole.intValue() : NOT_READ;
    }

    /** A number of milliseconds as a Long in microseconds. */
    Object readMillis(byte[] record) {
        Object millis = readLong(record, MOST_MILLIS_DIGITS);
        return millis instanceof Long whole ? whole * MICROS_PER_MILLI : NOT_READ;
    }

    private Object readLong(byte[] record, int mostDigits) {
        int start = scanner.position();
        int length = scanner.readNumber();
        boolean negative = length > 0 && record[start] == '-';
        int digits = negative ? length - 1 : length;
        if (length == UNRECOGNIZED || digits > mostDigits) {
            return NOT_READ;
        }
        long number = 0;
        for (int i = start + length - digits; i < start + length; i++) {
            if (record[i] < '0' || record[i] > '9') { // a fraction or an exponent
                return NOT_READ;
            }
            number = number * 10 + (record[i] - '0');
        }
        return negative ? -number : number;
    }

    /** A Double. */
    Object readDouble(byte[] record) {
        // A quotient of two exact doubles is the double next to the number. A whole -0 is 0.
        if (!readDigits(record) || count > MOST_EXACT_DIGITS || (negative && fraction < 0 && digits == 0)) {
            return NOT_READ;
        }
        double number = fraction > 0 ? digits / POWERS_OF_TEN[fraction] : digits;
        return negative ? -number : number;
    }

    /** A Decimal. A number with more digits after the point than the type has is NOT_READ. */
    Object readDecimal(byte[] record, int precision, int scale) {
        if (!readDigits(record)) {
            return NOT_READ;
        }
        int zeros = scale - Math.max(fraction, 0);
        if (zeros < 0 || count + zeros > precision) {
            return NOT_READ;
        }
        if (count + zeros > MOST_INTEGER_DIGITS) {
            BigDecimal number = BigDecimal.valueOf(negative ? -digits : digits, scale - zeros);
            return Decimal.apply(number.setScale(scale), precision, scale);
        }
        for (; zeros > 0; zeros--) {
            digits *= 10;
        }
        long unscaled = negative ? -digits : digits;
        return precision <= MOST_INTEGER_DIGITS
                ? Decimal.createUnsafe(unscaled, precision, scale)
                : Decimal.apply(BigDecimal.valueOf(unscaled, scale), precision, scale);
    }

    /** Reads a number to the fields of this object; false if it is not valid, or has an exponent or too many digits. */
    private boolean readDigits(byte[] record) {
        int start = scanner.position();
        int length = scanner.readNumber();
        if (length == UNRECOGNIZED || length > MOST_INTEGER_DIGITS + 2) {
            return false;
        }
        negative = record[start] == '-';
        long number = 0;
        int point = UNRECOGNIZED;
        int end = start + length;
        int first = negative ? start + 1 : start;
        for (int i = first; i < end; i++) {
            byte next = record[i];
            if (next >= '0' && next <= '9') {
                number = number * 10 + (next - '0');
            } else if (next == '.') {
                point = i;
            } else { // an exponent
                return false;
            }
        }
        digits = number;
        count = end - first - (point == UNRECOGNIZED ? 0 : 1);
        fraction = point == UNRECOGNIZED ? UNRECOGNIZED : end - point - 1;
        return count <= MOST_INTEGER_DIGITS;
    }
}
