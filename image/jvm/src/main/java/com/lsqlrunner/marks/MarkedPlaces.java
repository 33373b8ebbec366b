package com.lsqlrunner.marks;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;

/**
 * The records that executors read one at a time, in the driver. If an executor ends, its mark remains: its task runs
 * again on another executor, which asks to read the same record.
 */
final class MarkedPlaces {
    /**
     * A record that has ended this number of executors is not read again. One of them may have been lost with its node.
     */
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
     * The record that an executor reads.
     *
     * @param executor its id, which is not used again
     * @param place null for no record
     */
    record Mark(String executor, Place place) implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    private final Map<String, Place> marks = new HashMap<>();

    /** Replaces the mark of the executor; returns false if the record must not be read. */
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
