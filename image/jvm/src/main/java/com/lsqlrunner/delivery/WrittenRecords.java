package com.lsqlrunner.delivery;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * The identities of records that a batch has written before it runs again. An identity may occur several times: equal
 * results of a join have the same one.
 *
 * <p>An open batch has written a result of a group for each of its records. When the batch runs again, it has one
 * result of the group, with all these records, and perhaps more. It is already written if it equals the last one. If it
 * has none, the last one is stale.
 */
public final class WrittenRecords {
    private static final int SMALLEST = 1_024;

    /** Two longs for each slot of the hash table; a slot is free if its count is 0. */
    private long[] identities = new long[2 * SMALLEST];

    private int[] counts = new int[SMALLEST];

    /** The last results of an open batch. Their identities have no other records. */
    private final Map<RecordIdentity, Last> opened = new HashMap<>();

    /** The identities of those that were taken. */
    private final List<RecordIdentity> taken = new ArrayList<>();

    /** The number of used slots. A slot stays in use when its count becomes 0 again. */
    private final BitSet used = new BitSet();

    private int places;
    private final Map<TopicPartition, Long> ends = new HashMap<>();
    private volatile long remaining;
    private WrittenRecords others;

    /**
     * The last result of a group.
     *
     * @param number of the record in its task
     * @param value its hash
     * @param record null if it is not to be deleted
     */
    private record Last(long number, long value, WrittenRecord record) {}

    /** Adds a record. */
    synchronized void add(long high, long low) {
        if (opened.remove(new RecordIdentity(high, low)) != null) { // the batch has run after it was open
            remaining--;
        }
        int place = placeOf(high, low);
        setCount(place, counts[place] + 1);
    }

    /**
     * Adds a record of an open batch. The last one of an identity counts, unless the batch has run after it was open.
     *
     * @param number of the record in its task, which grows: records without a key are in several partitions
     * @param record to delete it; null for a tombstone, and if it is not to be deleted
     */
    synchronized void addOpened(long high, long low, long number, byte[] value, WrittenRecord record) {
        if (counts[place(high, low)] > 0) {
            return;
        }
        RecordIdentity identity = new RecordIdentity(high, low);
        Last before = opened.get(identity);
        if (before == null || number > before.number) {
            opened.put(identity, new Last(number, hash(value), record));
            remaining += before == null ? 1 : 0;
        }
    }

    private void setCount(int place, int count) {
        remaining += count - counts[place];
        counts[place] = count;
    }

    private int placeOf(long high, long low) {
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
        return place;
    }

    private static long hash(byte[] value) {
        try {
            return value == null
                    ? 0
                    : ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(value))
                            .getLong();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing); // each JVM has it
        }
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
     * @param value of the record; null for a tombstone
     * @return whether this object had the record, which is then already written
     */
    public synchronized boolean take(long high, long low, byte[] value) {
        Last last = remove(new RecordIdentity(high, low));
        if (last != null) {
            if (last.value == hash(value)) {
                return true;
            }
        } else {
            int place = place(high, low);
            if (counts[place] > 0) {
                setCount(place, counts[place] - 1);
                return true;
            }
        }
        return others != null && others.take(high, low, value);
    }

    private Last remove(RecordIdentity identity) {
        Last last = opened.remove(identity);
        if (last != null) {
            remaining--;
            taken.add(identity);
        }
        return last;
    }

    /** Whether an open batch has written a result that is not taken. */
    public synchronized boolean isOpened(long high, long low) {
        return opened.containsKey(new RecordIdentity(high, low));
    }

    /** Whether there are results of an open batch that are not taken. */
    synchronized boolean hasOpened() {
        return !opened.isEmpty();
    }

    /** The results of an open batch that were taken, or for which the batch had another value. */
    synchronized List<RecordIdentity> taken() {
        return List.copyOf(taken);
    }

    /** Takes results of an open batch that a task in another JVM has taken. */
    synchronized void takeAll(Collection<RecordIdentity> identities) {
        remaining -= identities.stream()
                .filter(identity -> opened.remove(identity) != null)
                .count();
    }

    /** The last results of an open batch that are not taken, of those that are to be deleted. */
    synchronized Map<RecordIdentity, WrittenRecord> stale() {
        Map<RecordIdentity, WrittenRecord> stale = new HashMap<>();
        opened.forEach((identity, last) -> {
            if (last.record != null) {
                stale.put(identity, last.record);
            }
        });
        return stale;
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
        opened.clear();
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
        for (int old = 0; old < oldCounts.length; old++) {
            if (oldCounts[old] > 0) {
                counts[placeOf(oldIdentities[2 * old], oldIdentities[2 * old + 1])] = oldCounts[old];
            }
        }
    }
}
