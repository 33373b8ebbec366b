package com.lsqlrunner.delivery;

import java.io.Serializable;

/** Offsets of a partition: {@code from} and those after it, before {@code until}. */
public record OffsetRange(long from, long until) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The smallest range that has both. */
    OffsetRange joined(OffsetRange other) {
        return new OffsetRange(Math.min(from, other.from), Math.max(until, other.until));
    }
}
