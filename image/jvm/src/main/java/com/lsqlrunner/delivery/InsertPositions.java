package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Where a query without state reads on, for the records of one INSERT and one of its source topics. The upper half of
 * the first long of their identities is the tag of both; the lower half is the source partition, and the second long
 * the offset.
 *
 * @param tag of the INSERT and the topic
 * @param arrays how many arrays the INSERT divides into their elements: with one, the tag is combined with the index of
 *     the element; with more, the upper half is a hash
 * @param topic the source topic
 * @param positions the next offset to read by partition; others are read from their first record
 * @param targets the topics that the records are written to
 */
public record InsertPositions(int tag, int arrays, String topic, Map<Integer, Long> positions, List<String> targets)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    /** No array of a record has so many elements. */
    private static final int MOST_ELEMENTS = 1 << 24;

    /** Whether a record with this identity may be one of the INSERT that it writes from now on. */
    boolean mayWrite(long high, long low) {
        int difference = (int) (high >>> 32) ^ tag;
        boolean isOwn =
                arrays > 1 || (arrays == 1 ? Integer.compareUnsigned(difference, MOST_ELEMENTS) < 0 : difference == 0);
        return isOwn && low >= positions.getOrDefault((int) high, 0L);
    }
}
