package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * The positions at which a query without state continues, for one INSERT and one of its source topics. The identities
 * of its records consist of two longs: the upper half of the first one is the tag of INSERT and topic, the lower half
 * is the source partition, and the second one is the offset.
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

    /** More elements than an array of a record has. */
    private static final int MOST_ELEMENTS = 1 << 24;

    /** Whether the INSERT may write a record with this identity from now on. */
    boolean mayWrite(long high, long low) {
        int difference = (int) (high >>> 32) ^ tag;
        boolean isOwn =
                arrays > 1 || (arrays == 1 ? Integer.compareUnsigned(difference, MOST_ELEMENTS) < 0 : difference == 0);
        return isOwn && low >= positions.getOrDefault((int) high, 0L);
    }
}
