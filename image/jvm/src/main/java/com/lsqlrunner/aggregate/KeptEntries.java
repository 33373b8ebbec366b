package com.lsqlrunner.aggregate;

import java.util.Collection;

/**
 * The entries that an aggregate keeps for a group. The result does not depend on the order in which entries are added,
 * or on how they were divided into states that are merged.
 */
interface KeptEntries {
    /**
     * Adds an entry, unless the function drops it. {@code mustCopy}: the caller reuses the object, so a copy is kept.
     */
    void offer(Entry entry, boolean mustCopy);

    /** All kept entries. Adding them to another object of the same class merges the two. */
    Collection<Entry> entries();

    /** The entries of the result, in order. */
    Collection<Entry> result();
}
