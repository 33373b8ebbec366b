package com.lsqlrunner.json;

import static com.lsqlrunner.json.JsonScanner.NOT_READ;
import static com.lsqlrunner.json.JsonScanner.UNRECOGNIZED;

import java.time.LocalDate;
import java.time.YearMonth;

/**
 * Dates and timestamps as text, in UTC and with years of four digits: {@code 2026-01-31} and
 * {@code 2026-01-31T12:30:00.5Z}. Spark reads and writes many more forms.
 */
final class JsonTimes {
    static final int DATE_LENGTH = "2026-01-31".length();
    static final int TIMESTAMP_LENGTH = "2026-01-31T12:30:00.500Z".length();

    private static final int TIME_LENGTH = "2026-01-31T12:30:00".length();
    private static final int MICROS_DIGITS = 6;
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
        if (length < TIME_LENGTH || (text[start + DATE_LENGTH] != 'T' && text[start + DATE_LENGTH] != ' ')) {
            return NOT_READ;
        }
        long day = day(text, start);
        int time = start + DATE_LENGTH + 1;
        int hour = digits(text, time, 2);
        int minute = digits(text, time + 3, 2);
        int second = digits(text, time + 6, 2);
        boolean isTime = text[time + 2] == ':' && text[time + 5] == ':';
        if (day == NO_DAY || !isTime || !isBelow(hour, 24) || !isBelow(minute, 60) || !isBelow(second, 60)) {
            return NOT_READ;
        }
        int end = start + length;
        int micros = 0;
        int at = start + TIME_LENGTH;
        if (at < end && text[at] == '.') {
            int count = 0;
            for (at++; at < end && text[at] >= '0' && text[at] <= '9' && count < MICROS_DIGITS; at++, count++) {
                micros = micros * 10 + (text[at] - '0');
            }
            if (count == 0) {
                return NOT_READ;
            }
            for (; count < MICROS_DIGITS; count++) {
                micros *= 10;
            }
        }
        boolean isUtc = at == end || (at == end - 1 && text[at] == 'Z');
        long seconds = day * SECONDS_PER_DAY + hour * 3600L + minute * 60L + second;
        return isUtc ? (Object) (seconds * MICROS_PER_SECOND + micros) : NOT_READ;
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
        putDigits(ofDay / 3_600_000, 2, to, time + 1);
        to[time + 3] = ':';
        putDigits(ofDay / 60_000 % 60, 2, to, time + 4);
        to[time + 6] = ':';
        putDigits(ofDay / 1000 % 60, 2, to, time + 7);
        to[time + 9] = '.';
        putDigits(ofDay % 1000, 3, to, time + 10);
        to[time + 13] = 'Z';
        return true;
    }

    private static void putDigits(int number, int count, byte[] to, int start) {
        int rest = number;
        for (int i = start + count - 1; i >= start; i--) {
            to[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
