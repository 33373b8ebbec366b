package com.lsqlrunner.policies;

import com.lsqlrunner.errors.ShownValue;
import org.apache.kafka.common.record.RecordBatch;

/** Which timestamps a topic accepts, in milliseconds since 1970 UTC. Not thread-safe. */
final class TimeLimits {
    private final long before;
    private final long after;

    /** The last reading of the clock. The clock is read again if the result depends on it. */
    private long lastMs = System.currentTimeMillis();

    /**
     * Creates the limits.
     *
     * @param before how far a timestamp may be behind the clock
     * @param after how far it may be ahead of the clock
     */
    TimeLimits(long before, long after) {
        this.before = before;
        this.after = after;
    }

    /** Why the topic does not accept a timestamp; null if it does. */
    String refusal(long timeMs) {
        if (timeMs < 0) {
            return timeMs == RecordBatch.NO_TIMESTAMP ? null : refused(timeMs, "before 1970");
        }
        if (isAhead(timeMs) || isBehind(timeMs)) {
            lastMs = System.currentTimeMillis();
        }
        if (isAhead(timeMs)) {
            return refused(timeMs, "more than " + after + " ms ahead of the clock: message.timestamp.after.max.ms");
        }
        return isBehind(timeMs)
                ? refused(timeMs, "more than " + before + " ms behind the clock: message.timestamp.before.max.ms")
                : null;
    }

    private boolean isAhead(long timeMs) {
        return timeMs - lastMs > after;
    }

    private boolean isBehind(long timeMs) {
        return lastMs - timeMs > before;
    }

    private static String refused(long timeMs, String why) {
        return "the timestamp " + (ShownValue.isIncluded() ? timeMs + " " : "") + "is " + why;
    }
}
