package com.lsqlrunner.text;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.unsafe.types.UTF8String;

/** The columns of one line of CSV by RFC 4180, as ranges of its bytes. Reused for each line; not thread-safe. */
final class CsvLine {
    private static final int NO_QUOTE = -1;
    private static final byte PLAIN = 0;
    private static final byte QUOTED = 1;
    private static final byte QUOTED_WITH_QUOTES = 2;

    private final String[] names;
    private final byte delimiter;
    private final int quote;
    private final int[] bounds;
    private final byte[] forms;
    private byte[] data;
    private int size;

    /**
     * @param delimiter between columns
     * @param quote around values that contain a delimiter, a quote (written twice) or the end of a line; empty for none
     * @param names of the columns; further ones are only counted
     */
    CsvLine(String delimiter, String quote, String... names) {
        this.names = names;
        bounds = new int[2 * names.length];
        forms = new byte[names.length];
        this.delimiter = (byte) delimiter.charAt(0);
        this.quote = quote.isEmpty() ? NO_QUOTE : quote.charAt(0);
    }

    /**
     * Reads a line, with or without its line end; returns the number of its columns.
     *
     * @throws MalformedRecordException the bytes are not one line
     */
    int read(byte[] record) {
        data = record;
        size = 0;
        int end = withoutLineEnd(record);
        if (end == 0) {
            throw new MalformedRecordException("it is empty");
        }
        int at = 0;
        while (at <= end) { // an empty column follows a delimiter at the end
            at = at < end && data[at] == quote ? quoted(at + 1, end) : plain(at, end);
        }
        return size;
    }

    private static int withoutLineEnd(byte[] record) {
        int end = record.length;
        end -= end > 0 && record[end - 1] == '\n' ? 1 : 0;
        return end - (end > 0 && record[end - 1] == '\r' ? 1 : 0);
    }

    /** Reads a column without quotes. Returns the index after the next delimiter. */
    private int plain(int from, int end) {
        int at = from;
        for (; at < end && data[at] != delimiter; at++) {
            if (data[at] == quote) {
                throw malformed("it has a quote within a value that does not begin with one");
            }
            if (data[at] == '\n' || data[at] == '\r') {
                throw new MalformedRecordException("it has more than one line");
            }
        }
        add(from, at, PLAIN);
        return at + 1;
    }

    private int quoted(int from, int end) {
        byte form = QUOTED;
        for (int at = from; at < end; at++) {
            if (data[at] == quote) {
                if (at + 1 == end || data[at + 1] == delimiter) {
                    add(from, at, form);
                    return at + 2;
                }
                at++;
                if (data[at] != quote) {
                    throw malformed("it continues after its closing quote");
                }
                form = QUOTED_WITH_QUOTES;
            }
        }
        throw malformed("it has no closing quote");
    }

    /** An error in the column that is being read. */
    private MalformedRecordException malformed(String reason) {
        return size < names.length
                ? new MalformedRecordException(reason).inField(names[size])
                : new MalformedRecordException("column %d: %s".formatted(size + 1, reason));
    }

    private void add(int from, int to, byte form) {
        if (size < forms.length) {
            bounds[2 * size] = from;
            bounds[2 * size + 1] = to;
            forms[size] = form;
        }
        size++;
    }

    boolean isQuoted(int column) {
        return forms[column] != PLAIN;
    }

    /** The text of a column: a view of the record, unless it contains doubled quotes. */
    UTF8String text(int column) {
        int from = bounds[2 * column];
        int to = bounds[2 * column + 1];
        if (forms[column] != QUOTED_WITH_QUOTES) {
            return UTF8String.fromBytes(data, from, to - from);
        }
        byte[] unescaped = new byte[to - from];
        int length = 0;
        for (int at = from; at < to; at++) {
            unescaped[length++] = data[at];
            at += data[at] == quote ? 1 : 0;
        }
        return UTF8String.fromBytes(unescaped, 0, length);
    }
}
