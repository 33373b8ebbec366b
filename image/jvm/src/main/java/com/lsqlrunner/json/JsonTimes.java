package com.lsqlrunner.json;

import static com.lsqlrunner.json.JsonScanner.NOT_READ;
import static com.lsqlrunner.json.JsonScanner.UNRECOGNIZED;

import java.time.LocalDate;
import java.time.YearMonth;

/**
 * Dates, timestamps and times of day as text, in UTC and with years of four digits: {@code 2026-01-31},
 * {@code 2026-01-31T12:30:00.5Z} and {@code 12:30:00.5}. Spark reads and writes many more forms.
 */
final class JsonTimes {
    static final int DATE_LENGTH = "2026-01-31".length();
    static final int TIMESTAMP_LENGTH = "2026-01-31T12:30:00.500Z".length();

    /** The length of the longest time. */
    static final int TIME_LENGTH = "12:30:00.500000".length();

    private static final int SECONDS_LENGTH = "12:30:00".length();
    private static final int MICROS_DIGITS = 6;
    private static final long NANOS_PER_MICRO = 1_000;
    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long MILLIS_PER_DAY = 86_400_000;
    private static final long SECONDS_PER_DAY = 86_400;
    private static final long NO_DAY = Long.MIN_VALUE;

    /** The days since 1970 of the years from 1 to 9999. */
    private static final long FIRST_DAY = LocalDate.of(1, 1, 1).toEpochDay();

    private static final long LAST_DAY = LocalDate.of(9999, 12, 31).toEpochDay();

    private JsonTimes() {}

    /** An Integer: the days since 1970. */
    static Object readDate(byte[] text, int start, int length) {
        long day = length == DATE_LENGTH ? day(text, start) : NO_DAY;
        return day == NO_DAY ? NOT_READ : (Object) (int) day;
    }

    /** A Long: the microseconds since 1970. */
    static Object readTimestamp(byte[] text, int start, int length) {
        int time = start + DATE_LENGTH + 1;
        if (length < DATE_LENGTH + 1 + SECONDS_LENGTH || (text[time - 1] != 'T' && text[time - 1] != ' ')) {
            return NOT_READ;
        }
        int end = start + length;
        int utcEnd = text[end - 1] == 'Z' ? end - 1 : end;
        long day = day(text, start);
        long micros = micros(text, time, utcEnd);
        boolean isRead = day != NO_DAY && micros != UNRECOGNIZED;
        return isRead ? (Object) (day * SECONDS_PER_DAY * MICROS_PER_SECOND + micros) : NOT_READ;
    }

    /** A Long: the nanoseconds since midnight. */
    static Object readTime(byte[] text, int start, int length) {
        long micros = micros(text, start, start + length);
        return micros == UNRECOGNIZED ? NOT_READ : (Object) (micros * NANOS_PER_MICRO);
    }

    /** The microseconds since midnight of a time with seconds; UNRECOGNIZED for other texts. */
    private static long micros(byte[] text, int start, int end) {
        if (end - start < SECONDS_LENGTH || text[start + 2] != ':' || text[start + 5] != ':') {
            return UNRECOGNIZED;
        }
        int hour = digits(text, start, 2);
        int minute = digits(text, start + 3, 2);
        int second = digits(text, start + 6, 2);
        int fraction = fraction(text, start + SECONDS_LENGTH, end);
        if (!isBelow(hour, 24) || !isBelow(minute, 60) || !isBelow(second, 60) || fraction == UNRECOGNIZED) {
            return UNRECOGNIZED;
        }
        return (hour * 3600L + minute * 60L + second) * MICROS_PER_SECOND + fraction;
    }

    /** The microseconds of a fraction of up to six digits after a point; 0 without text. */
    private static int fraction(byte[] text, int start, int end) {
        if (start == end) {
            return 0;
        }
        int count = end - start - 1;
        if (text[start] != '.' || count < 1 || count > MICROS_DIGITS) {
            return UNRECOGNIZED;
        }
        int micros = digits(text, start + 1, count);
        for (; count < MICROS_DIGITS && micros != UNRECOGNIZED; count++) {
            micros *= 10;
        }
        return micros;
    }

    private static long day(byte[] text, int start) {
        int year = digits(text, start, 4);
        int month = digits(text, start + 5, 2);
        int day = digits(text, start + 8, 2);
        boolean isDate = text[start + 4] == '-' && text[start + 7] == '-' && year > 0 && month > 0 && day > 0;
        return isDate && month <= 12 && day <= YearMonth.of(year, month).lengthOfMonth()
                ? LocalDate.of(year, month, day).toEpochDay()
                : NO_DAY;
    }

    private static boolean isBelow(int number, int end) {
        return number != UNRECOGNIZED && number < end;
    }

    private static int digits(byte[] text, int start, int count) {
        int number = 0;
        for (int i = start; i < start + count; i++) {
            if (text[i] < '0' || text[i] > '9') {
                return UNRECOGNIZED;
            }
            number = number * 10 + (text[i] - '0');
        }
        return number;
    }

    /** Writes a date in DATE_LENGTH bytes; false, without writing, for years of another length. */
    static boolean writeDate(long day, byte[] to, int start) {
        if (day < FIRST_DAY || day > LAST_DAY) {
            return false;
        }
        LocalDate date = LocalDate.ofEpochDay(day);
        putDigits(date.getYear(), 4, to, start);
        to[start + 4] = '-';
        putDigits(date.getMonthValue(), 2, to, start + 5);
        to[start + 7] = '-';
        putDigits(date.getDayOfMonth(), 2, to, start + 8);
        return true;
    }

    /** Writes a timestamp with milliseconds in TIMESTAMP_LENGTH bytes; false for years of another length. */
    static boolean writeTimestamp(long micros, byte[] to, int start) {
        long millis = Math.floorDiv(micros, 1000L);
        if (!writeDate(Math.floorDiv(millis, MILLIS_PER_DAY), to, start)) {
            return false;
        }
        int ofDay = (int) Math.floorMod(millis, MILLIS_PER_DAY);
        int time = start + DATE_LENGTH;
        to[time] = 'T';
        putSeconds(ofDay / 1000, to, time + 1);
        to[time + 9] = '.';
        putDigits(ofDay % 1000, 3, to, time + 10);
        to[time + 13] = 'Z';
        return true;
    }

    /** Writes a time of day, in nanoseconds, in at most TIME_LENGTH bytes: microseconds without zeros at the end. */
    static int writeTime(long nanos, byte[] to, int start) {
        long micros = nanos / NANOS_PER_MICRO;
        putSeconds((int) (micros / MICROS_PER_SECOND), to, start);
        int fraction = (int) (micros % MICROS_PER_SECOND);
        if (fraction == 0) {
            return SECONDS_LENGTH;
        }
        int digits = MICROS_DIGITS;
        for (; fraction % 10 == 0; digits--) {
            fraction /= 10;
        }
        to[start + SECONDS_LENGTH] = '.';
        putDigits(fraction, digits, to, start + SECONDS_LENGTH + 1);
        return SECONDS_LENGTH + 1 + digits;
    }

    private static void putSeconds(int ofDay, byte[] to, int start) {
        putDigits(ofDay / 3600, 2, to, start);
        to[start + 2] = ':';
        putDigits(ofDay / 60 % 60, 2, to, start + 3);
        to[start + 5] = ':';
        putDigits(ofDay % 60, 2, to, start + 6);
    }

    private static void putDigits(int number, int count, byte[] to, int start) {
        int rest = number;
        for (int i = start + count - 1; i >= start; i--) {
            to[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
