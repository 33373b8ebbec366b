package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;

/** The most or the least frequent values. Every value is kept with its count, since any may become one of them. */
final class FrequencyRanking implements KeptEntries {
    private final HashMap<Object, Entry> byValue = new HashMap<>();
    private final Comparator<Entry> order;
    private final int limit;

    FrequencyRanking(Comparator<Entry> order, int limit) {
        this.order = order;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean lent) {
        Entry known = byValue.get(entry.value);
        if (known != null) {
            known.count += entry.count;
            return;
        }
        Entry kept = lent ? entry.copy() : entry;
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
