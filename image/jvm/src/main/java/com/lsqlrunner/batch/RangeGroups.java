package com.lsqlrunner.batch;

import com.lsqlrunner.topic.OffsetRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.apache.kafka.common.TopicPartition;

/**
 * Divides the ranges of a batch among tasks. A partition stays with its task, whose consumer has already requested its
 * next records, unless one task would have much more work than the others.
 */
final class RangeGroups {
    /** A batch of up to this many records is one task: a second task costs more than it saves. */
    static final long SMALL = 2_000;

    /** The largest group may have this many times the records of an average one. */
    private static final double MAX_IMBALANCE = 1.25;

    private final IntSupplier slots;
    private int tasks;
    private final Map<TopicPartition, Integer> taskOf = new HashMap<>();

    /** @param slots the number of tasks that run at the same time, which changes when workers come and go */
    RangeGroups(IntSupplier slots) {
        this.slots = slots;
    }

    /** The ranges of each task. No group is empty, except the only one. */
    List<List<OffsetRange>> divide(Collection<OffsetRange> ranges) {
        long records = ranges.stream().mapToLong(OffsetRange::size).sum();
        int now = slots.getAsInt();
        if (now != tasks) {
            tasks = now;
            taskOf.clear();
        }
        if (records <= SMALL || tasks == 1) {
            return List.of(List.copyOf(ranges));
        }
        if (!isBalanced(ranges, records)) {
            assign(ranges);
        }
        List<List<OffsetRange>> groups = new ArrayList<>();
        for (int task = 0; task < tasks; task++) {
            groups.add(new ArrayList<>());
        }
        ranges.forEach(range -> groups.get(taskOf.get(range.partition())).add(range));
        groups.removeIf(List::isEmpty);
        return groups;
    }

    private boolean isBalanced(Collection<OffsetRange> ranges, long records) {
        long[] sizes = new long[tasks];
        long largestRange = 0;
        for (OffsetRange range : ranges) {
            Integer task = taskOf.get(range.partition());
            if (task == null) {
                return false;
            }
            sizes[task] += range.size();
            largestRange = Math.max(largestRange, range.size());
        }
        long allowed = Math.max(largestRange, (long) (MAX_IMBALANCE * records / tasks));
        for (long size : sizes) {
            if (size > allowed) {
                return false;
            }
        }
        return true;
    }

    /** Gives the largest range to the task with the least work, then the next one. */
    private void assign(Collection<OffsetRange> ranges) {
        long[] sizes = new long[tasks];
        List<OffsetRange> bySize = new ArrayList<>(ranges);
        bySize.sort(Comparator.comparingLong(OffsetRange::size).reversed());
        for (OffsetRange range : bySize) {
            int least = 0;
            for (int task = 1; task < tasks; task++) {
                if (sizes[task] < sizes[least]) {
                    least = task;
                }
            }
            sizes[least] += range.size();
            taskOf.put(range.partition(), least);
        }
    }
}
