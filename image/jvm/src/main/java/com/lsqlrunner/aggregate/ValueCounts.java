package com.lsqlrunner.aggregate;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * All entries of a group that others leave again: how often each came less how often it went. A count is negative while
 * only the going is known. Nothing is dropped, for what follows the best is the best once that is gone.
 */
final class ValueCounts implements KeptEntries {
  private final TreeMap<Entry, Entry> counted;
  private final Supplier<KeptEntries> result;
  private final boolean counts;
  private final int limit;

  /**
   * @param order tells any two entries apart.
   * @param result what makes the result of the entries that are there.
   * @param counts whether it takes an entry with its count, and not once for each time it came.
   * @param limit how many entries of a kind the result can tell apart.
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
