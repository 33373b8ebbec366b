package com.lsqlrunner.marks;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/**
 * The records that executors read one at a time, in the driver. An executor that ends leaves its mark: its task runs
 * again on another one, which asks to read the same record.
 */
final class MarkedPlaces {
    /** A record that has ended so many executors is not read again. One of them may have been lost with its node. */
    private static final int MOST_ENDED = 2;

    /**
     * A record.
     *
     * @param stream unique for each start of a query, so that a later start reads it again
     */
    record Place(String stream, String topic, int partition, long offset) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /**
     * What an executor reads.
     *
     * @param executor its id, which is not used again
     * @param place null for nothing
     */
    record Mark(String executor, Place place) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private final Map<String, Place> marks = new HashMap<>();

    /** Remembers a mark in place of the one of the same executor; false, if the record must not be read. */
    synchronized boolean set(Mark mark) {
        if (mark.place == null) {
            marks.remove(mark.executor);
            return true;
        }
        long ended = marks.entrySet().stream()
                .filter(other -> !other.getKey().equals(mark.executor)
                        && other.getValue().equals(mark.place))
                .count();
        if (ended >= MOST_ENDED) {
            return false;
        }
        marks.put(mark.executor, mark.place);
        return true;
    }
}
