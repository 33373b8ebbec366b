package com.lsqlrunner.policies;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TimeLimitsTest {
    private static final long HOUR_MS = 3_600_000;

    @Test
    void aTimeWithinTheLimitsIsUnchanged() {
        TimeLimits limits = new TimeLimits(HOUR_MS, HOUR_MS);
        long now = System.currentTimeMillis();

        for (long time : new long[] {now, now - HOUR_MS / 2, now + HOUR_MS / 2, -1}) {
            assertNull(limits.refusal(time));
        }
    }

    @Test
    void withoutLimitsEveryTimeOfKafkaIsAccepted() {
        TimeLimits limits = new TimeLimits(Long.MAX_VALUE, Long.MAX_VALUE);

        for (long time : new long[] {0, 1_700_000_000_000_000_000L, Long.MAX_VALUE}) {
            assertNull(limits.refusal(time));
        }
    }

    @Test
    void anotherTimeIsAnErrorThatNamesTheSettingOfTheTopic() {
        TimeLimits limits = new TimeLimits(HOUR_MS, HOUR_MS);
        long now = System.currentTimeMillis();

        assertTrue(limits.refusal(now + 2 * HOUR_MS).contains("message.timestamp.after.max.ms"));
        assertTrue(limits.refusal(Long.MAX_VALUE).contains("message.timestamp.after.max.ms"));
        assertTrue(limits.refusal(now - 2 * HOUR_MS).contains("message.timestamp.before.max.ms"));
        assertTrue(limits.refusal(-2).contains("before 1970"));
    }
}
