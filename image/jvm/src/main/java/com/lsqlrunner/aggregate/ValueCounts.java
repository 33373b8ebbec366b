package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The number of additions minus retractions of each value of a group, for aggregates over tables. A count is negative
 * while only the retraction has arrived. No value is dropped: when the best value is retracted, the next one becomes
 * the best.
 */
final class ValueCounts implements KeptEntries {
    private final TreeMap<Entry, Entry> counted;
    private final Supplier<KeptEntries> result;
    private final boolean counts;
    private final int limit;

    /**
     * @param order an order in which distinct entries differ
     * @param result creates the entries that compute the result from the entries with a positive count
     * @param counts whether {@code result} takes an entry once with its count, instead of once for each addition
     * @param limit the number of equal entries that can change the result
     */
    ValueCounts(Comparator<Entry> order, Supplier<KeptEntries> result, boolean counts, int limit) {
        this.counted = new TreeMap<>(order);
        this.result = result;
        this.counts = counts;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean mustCopy) {
        Entry existing = counted.get(entry);
        if (existing == null) {
            Entry kept = mustCopy ? entry.copy() : entry;
            counted.put(kept, kept);
        } else if (existing.count + entry.count == 0) {
            counted.remove(existing);
        } else {
            existing.count += entry.count;
        }
    }

    @Override
    public Collection<Entry> entries() {
        return counted.values();
    }

    @Override
    public Collection<Entry> result() {
        KeptEntries entries = result.get();
        for (Entry entry : counted.values()) {
            long times = counts ? Math.min(entry.count, 1) : Math.min(entry.count, limit);
            for (long left = times; left > 0; left--) {
                entries.offer(entry, false);
            }
        }
        return entries.result();
    }
}
