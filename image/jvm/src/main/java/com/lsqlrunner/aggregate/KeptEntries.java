package com.lsqlrunner.aggregate;

import java.util.Collection;

/**
 * The entries that an aggregate keeps of a group. The result does not depend on the order in which entries are added,
 * nor on how they were split into parts that are merged.
 */
interface KeptEntries {
    /** Adds an entry if it is one to keep; a copy of it if the caller reuses it ({@code lent}). */
    void offer(Entry entry, boolean lent);

    /** All entries that are kept; adding them to another object of the same class merges the two. */
    Collection<Entry> entries();

    /** The entries of the result, in its order. */
    Collection<Entry> result();
}
