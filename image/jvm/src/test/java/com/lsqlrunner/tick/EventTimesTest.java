package com.lsqlrunner.tick;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class EventTimesTest {
    private static final long DAY_MS = 86_400_000;

    private final EventTimes times = new EventTimes(null);

    private static Map<TopicPartition, Long> offsets(long first, long second) {
        return Map.of(new TopicPartition("t", 0), first, new TopicPartition("t", 1), second);
    }

    @Test
    void withoutUnreadRecordsARecordAdvancesToItsTime() {
        times.begin(DAY_MS);
        times.planned(offsets(10, 20), offsets(10, 20));

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
        times.planned(offsets(10, 10), offsets(20, 30));
        assertEquals(0, times.advancedTo(0, 1_000), "its partitions have not been read yet");
        times.advancedTo(1, 9_000);

        times.planned(offsets(15, 20), offsets(20, 30));
        assertEquals(1_000, times.advancedTo(1, 9_500));
        assertEquals(1_000, times.advancedTo(0, 2_000));

        times.planned(offsets(15, 30), offsets(20, 30));
        assertEquals(2_000, times.advancedTo(1, 10_000));

        times.planned(offsets(20, 30), offsets(20, 30));
        assertEquals(10_000, times.advancedTo(1, 10_000));
    }

    @Test
    void aPartitionThatHasReadNothingHoldsTheTime() {
        times.begin(DAY_MS);
        times.planned(offsets(10, 0), offsets(20, 5));
        times.advancedTo(0, 9_000);

        times.planned(offsets(20, 0), offsets(20, 5));

        assertEquals(0, times.advancedTo(0, 9_500));
    }

    @Test
    void aRecordOfTheFarFutureDoesNotAdvanceTheTime() {
        times.begin(DAY_MS);
        times.planned(offsets(10, 20), offsets(10, 20));
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
