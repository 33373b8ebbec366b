package com.lsqlrunner.delivery;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * The identities of records that a batch has written before it runs again. An identity may occur several times: equal
 * results of a join have the same one.
 */
public final class WrittenRecords {
    private static final int SMALLEST = 1_024;

    /** Two longs for each slot of the hash table; a slot is free if its count is 0. */
    private long[] identities = new long[2 * SMALLEST];

    private int[] counts = new int[SMALLEST];

    /** The number of used slots. A slot stays in use when its count becomes 0 again. */
    private final BitSet used = new BitSet();

    private int places;
    private final Map<TopicPartition, Long> ends = new HashMap<>();
    private volatile long remaining;
    private WrittenRecords others;

    /** Adds a record. */
    synchronized void add(long high, long low) {
        if (2 * places >= counts.length) {
            grow();
        }
        int place = place(high, low);
        if (!used.get(place)) {
            used.set(place);
            places++;
            identities[2 * place] = high;
            identities[2 * place + 1] = low;
        }
        counts[place]++;
        remaining++;
    }

    /** For a query without state: adds the result of a source record, with the partitions that it may come from. */
    synchronized void addOfRecord(long high, long low, List<TopicPartition> sources) {
        add(high, low);
        sources.forEach(source -> ends.merge(source, low + 1, Math::max));
    }

    /** Adds other records, which are taken after equal records of this object. */
    synchronized void join(WrittenRecords more) {
        others = more;
    }

    /**
     * Takes a record.
     *
     * @return whether this object had the record, which is then already written
     */
    public synchronized boolean take(long high, long low) {
        int place = place(high, low);
        if (counts[place] == 0) {
            return others != null && others.take(high, low);
        }
        counts[place]--;
        remaining--;
        return true;
    }

    /** By source partition: the offset after the last record whose result was added. Empty for a query with state. */
    public synchronized Map<TopicPartition, Long> ends() {
        return Map.copyOf(ends);
    }

    /** Removes all records. */
    synchronized void clear() {
        identities = new long[2 * SMALLEST];
        counts = new int[SMALLEST];
        used.clear();
        places = 0;
        remaining = 0;
    }

    /** The number of records that have not been taken out. */
    public long remaining() {
        return others == null ? remaining : remaining + others.remaining();
    }

    private int place(long high, long low) {
        int mask = counts.length - 1;
        long mixed = (high * 0x9E3779B97F4A7C15L) ^ (low * 0xC2B2AE3D27D4EB4FL);
        int place = (int) (mixed ^ (mixed >>> 32)) & mask;
        while (used.get(place) && (identities[2 * place] != high || identities[2 * place + 1] != low)) {
            place = (place + 1) & mask;
        }
        return place;
    }

    private void grow() {
        long[] oldIdentities = identities;
        int[] oldCounts = counts;
        identities = new long[2 * oldIdentities.length];
        counts = new int[2 * oldCounts.length];
        used.clear();
        places = 0;
        remaining = 0;
        for (int place = 0; place < oldCounts.length; place++) {
            int count = oldCounts[place];
            for (int each = 0; each < count; each++) {
                add(oldIdentities[2 * place], oldIdentities[2 * place + 1]);
            }
        }
    }
}
