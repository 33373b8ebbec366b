package com.lsqlrunner.tick;

import java.util.Arrays;
import org.apache.spark.util.AccumulatorV2;

/** The newest event time of each partition of an input, and the number of records that are too far in the future. */
final class PartitionTimes extends AccumulatorV2<PartitionTimes.Time, PartitionTimes> {
    private static final long serialVersionUID = 1L;

    static final long UNKNOWN = Long.MIN_VALUE;

    /** The time of a record, in milliseconds since 1970 UTC. */
    record Time(int partition, long timeMs) {}

    /** By partition. */
    private long[] newestMs = {};

    private long futureRecords;

    /** The newest time of a partition; {@link #UNKNOWN} before its first record. */
    long newestMs(int partition) {
        return partition < newestMs.length ? newestMs[partition] : UNKNOWN;
    }

    long futureRecords() {
        return futureRecords;
    }

    void addFutureRecord() {
        futureRecords++;
    }

    void add(int partition, long timeMs) {
        if (partition >= newestMs.length) {
            int before = newestMs.length;
            newestMs = Arrays.copyOf(newestMs, partition + 1);
            Arrays.fill(newestMs, before, newestMs.length, UNKNOWN);
        }
        newestMs[partition] = Math.max(newestMs[partition], timeMs);
    }

    @Override
    public void add(Time time) {
        add(time.partition, time.timeMs);
    }

    @Override
    public void merge(AccumulatorV2<Time, PartitionTimes> other) {
        PartitionTimes others = other.value();
        for (int partition = 0; partition < others.newestMs.length; partition++) {
            add(partition, others.newestMs[partition]);
        }
        futureRecords += others.futureRecords;
    }

    @Override
    public boolean isZero() {
        return newestMs.length == 0 && futureRecords == 0;
    }

    @Override
    public PartitionTimes copy() {
        PartitionTimes copy = new PartitionTimes();
        copy.newestMs = newestMs.clone();
        copy.futureRecords = futureRecords;
        return copy;
    }

    @Override
    public void reset() {
        newestMs = new long[] {};
        futureRecords = 0;
    }

    @Override
    public PartitionTimes value() {
        return this;
    }
}
