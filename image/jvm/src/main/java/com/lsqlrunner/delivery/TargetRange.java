package com.lsqlrunner.delivery;

import java.io.Serializable;

/** Offsets of a partition, from {@code from} to before {@code until}. */
public record TargetRange(long from, long until) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** The smallest range that contains both ranges. */
    TargetRange joined(TargetRange other) {
        return new TargetRange(Math.min(from, other.from), Math.max(until, other.until));
    }
}
