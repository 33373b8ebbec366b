package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The first different values, as many as a limit allows.
 *
 * <p>A value that was dropped stood behind all that are kept, and kept values only move to earlier places. If the value
 * comes again, it is kept only if it then stands before one of them, so nothing has to be remembered of dropped values.
 */
final class FirstDistinct implements KeptEntries {
    private final TreeMap<Object, Entry> byValue;
    private final TreeSet<Entry> byPlace;
    private final Comparator<Entry> order;
    private final int limit;

    FirstDistinct(Comparator<Object> values, Comparator<Entry> order, int limit) {
        this.byValue = new TreeMap<>(values);
        this.byPlace = new TreeSet<>(order);
        this.order = order;
        this.limit = limit;
    }

    @Override
    public void offer(Entry entry, boolean lent) {
        Entry known = byValue.get(entry.value);
        if (known == null && byPlace.size() == limit && order.compare(entry, byPlace.last()) >= 0) {
            return;
        }
        if (known != null) {
            if (order.compare(entry, known) >= 0) {
                return;
            }
            byValue.remove(known.value);
            byPlace.remove(known);
        } else if (byPlace.size() == limit) {
            byValue.remove(byPlace.pollLast().value);
        }
        Entry kept = lent ? entry.copy() : entry;
        byValue.put(kept.value, kept);
        byPlace.add(kept);
    }

    @Override
    public Collection<Entry> entries() {
        return byPlace;
    }

    @Override
    public Collection<Entry> result() {
        return byPlace;
    }
}
