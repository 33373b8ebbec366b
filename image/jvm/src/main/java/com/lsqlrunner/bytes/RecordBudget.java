package com.lsqlrunner.bytes;

import com.lsqlrunner.errors.MalformedRecordException;

/**
 * Limits the memory of one decoded record. A few bytes can claim millions of values: items that take no bytes, structs
 * whose fields are all missing, nested values. Decoders report the values that they are about to create; a record that
 * exceeds its budget is malformed. Not thread-safe.
 *
 * <p>The memory is an estimate: an item of an array takes 32 bytes, an entry of a map 64, and a field of a struct 8, in
 * addition to its value. A record may take 32 MiB, or 64 times its size if that is more. So a record of any size is
 * accepted if each of its values has at least a byte.
 */
public final class RecordBudget {
    /** How deeply values may be nested, also in fields that are not read, because decoders are recursive. */
    public static final int MAX_DEPTH = 500;

    /** The most digits that a number with an exponent may represent. */
    public static final int MAX_DIGITS = 1_000;

    private static final long ITEM_BYTES = 32;
    private static final long ENTRY_BYTES = 64;
    private static final long FIELD_BYTES = 8;
    private static final int LEAST_MIB = 32;
    private static final long BYTES_FOR_EACH = 64;

    private long allowed;
    private long left;

    /** Begins to count for another record. */
    public void start(int recordBytes) {
        allowed = allowed(recordBytes);
        left = allowed;
    }

    private static long allowed(int recordBytes) {
        return Math.max((long) LEAST_MIB << 20, recordBytes * BYTES_FOR_EACH);
    }

    /**
     * Whether a record with at most this number of structs, each in an array or map and with this number of fields, can
     * exceed its budget.
     */
    public static boolean canExceed(int recordBytes, int structs, int fields) {
        return structs * (ENTRY_BYTES + fields * FIELD_BYTES) > allowed(recordBytes);
    }

    /** Counts items of an array before they are created; the record is malformed if they are too many. */
    public void takeItems(long count) {
        take(count, ITEM_BYTES);
    }

    /** Counts entries of a map before they are created; the record is malformed if they are too many. */
    public void takeEntries(long count) {
        take(count, ENTRY_BYTES);
    }

    /** Counts the fields of a struct before it is created; the record is malformed if they are too many. */
    public void takeFields(int count) {
        left -= count * FIELD_BYTES;
        if (left < 0) {
            throw exceeded();
        }
    }

    private void take(long count, long bytes) {
        if (count > left / bytes) { // count * bytes may be too large for a long
            throw exceeded();
        }
        left -= count * bytes;
    }

    private MalformedRecordException exceeded() {
        return new MalformedRecordException(
                "the arrays and maps of the record have too many items: they would take more than %d MiB of memory"
                        .formatted(allowed >> 20));
    }

    /** Checks how deeply a value is nested; the record is malformed if that is too deep. */
    public static void checkDepth(int depth) {
        if (depth > MAX_DEPTH) {
            throw tooDeep();
        }
    }

    /** The error of a record whose values are nested more than {@link #MAX_DEPTH} levels deep. */
    public static MalformedRecordException tooDeep() {
        return new MalformedRecordException("values are nested more than " + MAX_DEPTH + " levels deep");
    }
}
