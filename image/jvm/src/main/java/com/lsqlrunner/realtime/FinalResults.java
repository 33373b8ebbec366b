package com.lsqlrunner.realtime;

/**
 * When results are due that a batch writes when the watermark has passed their time: at the ends of windows, or at the
 * times up to which a record waits for a match.
 *
 * @param everyMs the time between two of them; 0 if no results wait
 * @param offsetMs of one of them
 */
public record FinalResults(long everyMs, long offsetMs) {
    /** Whether results are due between two watermarks, in milliseconds since 1970 UTC. */
    boolean areDue(long afterMs, long untilMs) {
        return Math.floorDiv(untilMs - offsetMs, everyMs) > Math.floorDiv(afterMs - offsetMs, everyMs);
    }

    boolean areAwaited() {
        return everyMs > 0;
    }
}
