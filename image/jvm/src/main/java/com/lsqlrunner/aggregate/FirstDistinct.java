package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The first distinct values, up to a limit.
 *
 * <p>A dropped value comes after all kept values, and the sort keys of kept values only decrease. A dropped value that
 * is added again is kept only if its new sort key precedes the sort key of a kept value, so dropped values need not be
 * remembered.
 */
final class FirstDistinct implements KeptEntries {
    private final TreeMap<Object, Entry> byValue;
    private final TreeSet<Entry> bySortKey;
    private final Comparator<Entry> order;
    private final int limit;

    FirstDistinct(Comparator<Object> values, Comparator<Entry> order, int limit) {
        this.byValue = new TreeMap<>(values);
        this.bySortKey = new TreeSet<>(order);
        this.order = order;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean mustCopy) {
        Entry existing = byValue.get(entry.value);
        if (existing == null && bySortKey.size() == limit && order.compare(entry, bySortKey.last()) >= 0) {
            return;
        }
        if (existing != null) {
            if (order.compare(entry, existing) >= 0) {
                return;
            }
            byValue.remove(existing.value);
            bySortKey.remove(existing);
        } else if (bySortKey.size() == limit) {
            byValue.remove(bySortKey.pollLast().value);
        }
        Entry kept = mustCopy ? entry.copy() : entry;
        byValue.put(kept.value, kept);
        bySortKey.add(kept);
    }

    @Override
    public Collection<Entry> entries() {
        return bySortKey;
    }

    @Override
    public Collection<Entry> result() {
        return bySortKey;
    }
}
