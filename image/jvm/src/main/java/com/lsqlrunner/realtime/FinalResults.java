package com.lsqlrunner.realtime;

/**
 * When windows end that have one result, which a batch writes when the watermark has passed the end.
 *
 * @param everyMs the time between two ends; 0 if results do not wait for an end
 * @param offsetMs of an end
 */
public record FinalResults(long everyMs, long offsetMs) {
    /** Whether a window ends between two watermarks, in milliseconds since 1970 UTC. */
    boolean areDue(long afterMs, long untilMs) {
        return Math.floorDiv(untilMs - offsetMs, everyMs) > Math.floorDiv(afterMs - offsetMs, everyMs);
    }

    boolean areAwaited() {
        return everyMs > 0;
    }
}
