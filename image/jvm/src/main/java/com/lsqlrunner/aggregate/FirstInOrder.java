package com.lsqlrunner.aggregate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;

/** The first entries in an order, up to a limit. */
final class FirstInOrder implements KeptEntries {
    private final ArrayList<Entry> sorted = new ArrayList<>(1);
    private final Comparator<Entry> order;
    private final int limit;
    private final boolean unique;

    /** @param unique whether only one of several equal entries is kept */
    FirstInOrder(Comparator<Entry> order, int limit, boolean unique) {
        this.order = order;
        this.limit = limit;
        this.unique = unique;
    }

    @Override
    public void offer(Entry entry, boolean mustCopy) {
        int last = sorted.size() - 1;
        int after = last < 0 ? 1 : order.compare(entry, sorted.get(last));
        if (after >= 0 && (last + 1 == limit || (after == 0 && unique))) {
            return;
        }
        int index = after >= 0 ? last + 1 : insertionIndex(entry);
        if (index < 0) {
            return;
        }
        if (last + 1 == limit) {
            sorted.remove(last);
        }
        sorted.add(index, mustCopy ? entry.copy() : entry);
    }

    /**
     * The index at which to insert an entry that precedes the last one; -1 if an equal entry exists and only one is
     * kept.
     */
    private int insertionIndex(Entry entry) {
        int low = 0;
        int high = sorted.size() - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            int compared = order.compare(entry, sorted.get(middle));
            if (compared == 0 && unique) {
                return -1;
            }
            if (compared < 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    @Override
    public Collection<Entry> entries() {
        return sorted;
    }

    @Override
    public Collection<Entry> result() {
        return sorted;
    }
}
