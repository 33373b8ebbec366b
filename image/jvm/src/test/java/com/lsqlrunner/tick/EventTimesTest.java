package com.lsqlrunner.tick;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class EventTimesTest {
    private static final long DAY_MS = 86_400_000;

    private final EventTimes times = new EventTimes(null);

    private static final TopicPartition FIRST = new TopicPartition("t", 0);
    private static final TopicPartition SECOND = new TopicPartition("t", 1);

    @Test
    void withoutUnreadRecordsARecordAdvancesToItsTime() {
        times.begin(DAY_MS);
        times.planned(Set.of());

        assertEquals(5_000, times.advancedTo(0, 5_000));
        assertEquals(3_000, times.advancedTo(1, 3_000));
    }

    @Test
    void nothingAdvancesBeforeTheFirstPlan() {
        times.begin(DAY_MS);

        assertEquals(0, times.advancedTo(0, 5_000));
    }

    @Test
    void recordsDoNotPassThePartitionWithUnreadRecords() {
        times.begin(DAY_MS);
        times.planned(Set.of(FIRST, SECOND));
        assertEquals(0, times.advancedTo(0, 1_000), "its partitions have not been read yet");
        times.advancedTo(1, 9_000);

        times.planned(Set.of(FIRST, SECOND));
        assertEquals(1_000, times.advancedTo(1, 9_500));
        assertEquals(1_000, times.advancedTo(0, 2_000));

        times.planned(Set.of(FIRST));
        assertEquals(2_000, times.advancedTo(1, 10_000));

        times.planned(Set.of());
        assertEquals(10_000, times.advancedTo(1, 10_000));
    }

    @Test
    void aPartitionThatHasReadNothingHoldsTheTime() {
        times.begin(DAY_MS);
        times.planned(Set.of(FIRST, SECOND));
        times.advancedTo(0, 9_000);

        times.planned(Set.of(SECOND));

        assertEquals(0, times.advancedTo(0, 9_500));
    }

    @Test
    void aRecordOfTheFarFutureDoesNotAdvanceTheTime() {
        times.begin(DAY_MS);
        times.planned(Set.of());
        long soon = System.currentTimeMillis() + DAY_MS / 2;

        assertNull(times.advancedTo(0, System.currentTimeMillis() + 2 * DAY_MS));
        assertNull(times.advancedTo(0, Long.MAX_VALUE));
        assertEquals(soon, times.advancedTo(0, soon));

        assertEquals(2, times.takeFutureRecords());
        assertEquals(0, times.takeFutureRecords());
    }

    @Test
    void theTimesOfTasksAreMerged() {
        PartitionTimes task = new PartitionTimes();
        task.add(2, 7_000);
        task.addFutureRecord();
        PartitionTimes all = new PartitionTimes();
        all.add(0, 3_000);

        all.merge(task);

        assertEquals(3_000, all.newestMs(0));
        assertEquals(PartitionTimes.UNKNOWN, all.newestMs(1));
        assertEquals(7_000, all.copy().newestMs(2));
        assertEquals(PartitionTimes.UNKNOWN, all.newestMs(3));
        assertEquals(1, all.futureRecords());
    }
}
