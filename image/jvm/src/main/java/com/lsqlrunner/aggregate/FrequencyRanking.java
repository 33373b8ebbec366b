package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;

/**
 * The most or the least frequent values. All values are kept with their counts, because any of them may enter the
 * ranking.
 */
final class FrequencyRanking implements KeptEntries {
    private final HashMap<Object, Entry> byValue = new HashMap<>();
    private final Comparator<Entry> order;
    private final int limit;

    FrequencyRanking(Comparator<Entry> order, int limit) {
        this.order = order;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean mustCopy) {
        Entry existing = byValue.get(entry.value);
        if (existing != null) {
            existing.count += entry.count;
            return;
        }
        Entry kept = mustCopy ? entry.copy() : entry;
        byValue.put(kept.value, kept);
    }

    @Override
    public Collection<Entry> entries() {
        return byValue.values();
    }

    @Override
    public Collection<Entry> result() {
        FirstInOrder ranked = new FirstInOrder(order, limit, false);
        byValue.values().forEach(entry -> ranked.offer(entry, false));
        return ranked.result();
    }
}
