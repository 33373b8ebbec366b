package com.lsqlrunner.utf16;

import org.apache.spark.unsafe.types.UTF8String;

/**
 * Lengths and positions of text in UTF-16 code units, as in {@code String}: a character of four bytes in UTF-8 is two.
 *
 * <p>If a text begins or ends between the two, the half becomes a question mark, as with {@code String.getBytes}.
 */
final class CodeUnits {
    private static final UTF8String HALF = UTF8String.fromString("?");
    private static final int FIRST_OF_FOUR_BYTES = 0xF0;
    private static final int CONTINUATION_MASK = 0xC0;
    private static final int CONTINUATION = 0x80;

    private CodeUnits() {}

    /** The number of code units. */
    static int length(UTF8String text) {
        return length(text, text.numBytes());
    }

    /** The number of code units in the first {@code bytes} of the text. */
    private static int length(UTF8String text, int bytes) {
        int units = 0;
        for (int i = 0; i < bytes; i++) {
            units += unitsOf(text.getByte(i));
        }
        return units;
    }

    /** The position of the first {@code part}, from 0; -1 if the text does not contain it. */
    static int indexOf(UTF8String text, UTF8String part) {
        int last = text.numBytes() - part.numBytes();
        for (int at = 0; at <= last; at++) {
            if (matches(text, part, at)) {
                return length(text, at);
            }
        }
        return -1;
    }

    private static boolean matches(UTF8String text, UTF8String part, int at) {
        for (int i = 0; i < part.numBytes(); i++) {
            if (text.getByte(at + i) != part.getByte(i)) {
                return false;
            }
        }
        return true;
    }

    /** The first {@code count} code units; all if there are fewer, none if the number is negative. */
    static UTF8String take(UTF8String text, int count) {
        Cut cut = Cut.at(text, count);
        UTF8String whole = part(text, 0, cut.start);
        return cut.isInside ? UTF8String.concat(whole, HALF) : whole;
    }

    /** The text without its first {@code count} code units; all of it if the number is negative. */
    static UTF8String drop(UTF8String text, int count) {
        Cut cut = Cut.at(text, count);
        UTF8String whole = part(text, cut.end, text.numBytes());
        return cut.isInside ? UTF8String.concat(HALF, whole) : whole;
    }

    private static UTF8String part(UTF8String text, int start, int end) {
        return start == 0 && end == text.numBytes() ? text : text.copyUTF8String(start, end - 1);
    }

    private static int unitsOf(byte value) {
        int bits = Byte.toUnsignedInt(value);
        if ((bits & CONTINUATION_MASK) == CONTINUATION) {
            return 0;
        }
        return bits >= FIRST_OF_FOUR_BYTES ? 2 : 1;
    }

    /**
     * A position in the bytes of a text.
     *
     * @param start the end of the characters before the position
     * @param end the start of the characters after it; differs from {@code start} inside a character of two code units
     */
    private record Cut(int start, int end, boolean isInside) {
        static Cut at(UTF8String text, int count) {
            int units = 0;
            int at = 0;
            while (at < text.numBytes() && units < count) {
                int next = at + 1;
                while (next < text.numBytes() && unitsOf(text.getByte(next)) == 0) {
                    next++;
                }
                units += unitsOf(text.getByte(at));
                if (units > count) {
                    return new Cut(at, next, true);
                }
                at = next;
            }
            return new Cut(at, at, false);
        }
    }
}
