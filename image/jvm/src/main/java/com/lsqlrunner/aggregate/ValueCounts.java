package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * How often each value is in a group from which values are also removed: additions minus removals. A count is negative
 * while only the removal is known. Nothing is dropped: when the best value is removed, the next one becomes the best.
 */
final class ValueCounts implements KeptEntries {
    private final TreeMap<Entry, Entry> counted;
    private final Supplier<KeptEntries> result;
    private final boolean counts;
    private final int limit;

    /**
     * @param order in which different entries differ.
     * @param result computes the result from the entries whose count is positive.
     * @param counts whether {@code result} takes an entry once with its count, and not once for each time it was added.
     * @param limit how many equal entries can change the result.
     */
    ValueCounts(Comparator<Entry> order, Supplier<KeptEntries> result, boolean counts, int limit) {
        this.counted = new TreeMap<>(order);
        this.result = result;
        this.counts = counts;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean lent) {
        Entry known = counted.get(entry);
        if (known == null) {
            Entry kept = lent ? entry.copy() : entry;
            counted.put(kept, kept);
        } else if (known.count + entry.count == 0) {
            counted.remove(known);
        } else {
            known.count += entry.count;
        }
    }

    @Override
    public Collection<Entry> entries() {
        return counted.values();
    }

    @Override
    public Collection<Entry> result() {
        KeptEntries found = result.get();
        for (Entry entry : counted.values()) {
            long times = counts ? Math.min(entry.count, 1) : Math.min(entry.count, limit);
            for (long left = times; left > 0; left--) {
                found.offer(entry, false);
            }
        }
        return found.result();
    }
}
