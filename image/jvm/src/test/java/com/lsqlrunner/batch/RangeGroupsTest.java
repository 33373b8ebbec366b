package com.lsqlrunner.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.topic.OffsetRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RangeGroupsTest {
    private static List<OffsetRange> ranges(long... sizes) {
        List<OffsetRange> ranges = new ArrayList<>();
        for (int partition = 0; partition < sizes.length; partition++) {
            if (sizes[partition] > 0) {
                ranges.add(new OffsetRange(new TopicPartition("t", partition), 10, 10 + sizes[partition]));
            }
        }
        return ranges;
    }

    private static Set<Set<Integer>> partitions(List<List<OffsetRange>> groups) {
        return groups.stream()
                .map(group -> group.stream()
                        .map(range -> range.partition().partition())
                        .collect(Collectors.toSet()))
                .collect(Collectors.toSet());
    }

    @Test
    void aSmallBatchIsOneTask() {
        assertEquals(Set.of(Set.of(0, 1, 2)), partitions(new RangeGroups(() -> 4).divide(ranges(1, 1, 1_998))));
    }

    @Test
    void aLargeBatchIsDividedEvenly() {
        assertEquals(
                Set.of(Set.of(0), Set.of(1, 2, 3)),
                partitions(new RangeGroups(() -> 2).divide(ranges(9_000, 3_000, 3_000, 3_000))));
    }

    @Test
    void theNumberOfTasksFollowsTheWorkers() {
        int[] slots = {2};
        RangeGroups groups = new RangeGroups(() -> slots[0]);
        assertEquals(2, groups.divide(ranges(2_000, 2_000, 2_000, 2_000)).size());
        slots[0] = 4;
        assertEquals(4, groups.divide(ranges(2_000, 2_000, 2_000, 2_000)).size());
        slots[0] = 1;
        assertEquals(1, groups.divide(ranges(2_000, 2_000, 2_000, 2_000)).size());
    }

    @Test
    void aPartitionStaysWithItsTask() {
        RangeGroups groups = new RangeGroups(() -> 2);
        Set<Set<Integer>> first = partitions(groups.divide(ranges(5_000, 4_000, 3_000, 2_000)));
        assertEquals(first, partitions(groups.divide(ranges(4_000, 4_500, 3_000, 2_500))));
        assertEquals(Set.of(Set.of(0, 1, 2, 3)), partitions(groups.divide(ranges(1, 1, 1, 1))));
        assertEquals(first, partitions(groups.divide(ranges(4_000, 5_000, 2_000, 3_000))));
    }

    @Test
    void aPartitionChangesItsTaskIfOneWouldHaveMuchMoreWork() {
        RangeGroups groups = new RangeGroups(() -> 2);
        assertEquals(Set.of(Set.of(0, 2), Set.of(1, 3)), partitions(groups.divide(ranges(4_000, 4_000, 4_000, 4_000))));
        assertEquals(Set.of(Set.of(0), Set.of(2)), partitions(groups.divide(ranges(4_000, 0, 4_000, 0))));
    }

    @Test
    void anAddedPartitionGetsATask() {
        RangeGroups groups = new RangeGroups(() -> 2);
        groups.divide(ranges(4_000, 4_000));
        assertEquals(
                3,
                groups.divide(ranges(4_000, 4_000, 1)).stream()
                        .mapToInt(List::size)
                        .sum());
    }
}
