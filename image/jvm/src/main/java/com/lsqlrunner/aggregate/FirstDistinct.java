package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The first distinct values, up to a limit.
 *
 * <p>A dropped value comes after all kept values, and kept values only move to earlier positions. A dropped value that
 * is added again is kept only if its new position precedes one of theirs, so dropped values need not be remembered.
 */
final class FirstDistinct implements KeptEntries {
    private final TreeMap<Object, Entry> byValue;
    private final TreeSet<Entry> byPosition;
    private final Comparator<Entry> order;
    private final int limit;

    FirstDistinct(Comparator<Object> values, Comparator<Entry> order, int limit) {
        this.byValue = new TreeMap<>(values);
        this.byPosition = new TreeSet<>(order);
        this.order = order;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean mustCopy) {
        Entry existing = byValue.get(entry.value);
        if (existing == null && byPosition.size() == limit && order.compare(entry, byPosition.last()) >= 0) {
            return;
        }
        if (existing != null) {
            if (order.compare(entry, existing) >= 0) {
                return;
            }
            byValue.remove(existing.value);
            byPosition.remove(existing);
        } else if (byPosition.size() == limit) {
            byValue.remove(byPosition.pollLast().value);
        }
        Entry kept = mustCopy ? entry.copy() : entry;
        byValue.put(kept.value, kept);
        byPosition.add(kept);
    }

    @Override
    public Collection<Entry> entries() {
        return byPosition;
    }

    @Override
    public Collection<Entry> result() {
        return byPosition;
    }
}
