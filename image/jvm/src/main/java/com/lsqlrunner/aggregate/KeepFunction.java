package com.lsqlrunner.aggregate;

import java.util.Comparator;

/** The aggregates of the language that keep values: by what they order, and whether the result is an array. */
enum KeepFunction {
    FIRST(true, true),
    LAST(true, true),
    COLLECT(true, false),
    COLLECT_UNIQUE(true, false),
    MAX(false, true),
    MIN(false, true),
    MAXK(false, false),
    MAXK_UNIQUE(false, false),
    MINK(false, false),
    MINK_UNIQUE(false, false),
    TOPK(false, false),
    BOTTOMK(false, false);

    /** Whether the order of the records counts. */
    final boolean byPlace;

    /** Whether the result is one value or null, and not an array. */
    final boolean single;

    KeepFunction(boolean byPlace, boolean single) {
        this.byPlace = byPlace;
        this.single = single;
    }

    boolean counts() {
        return this == TOPK || this == BOTTOMK;
    }

    /**
     * An empty group.
     *
     * @param values an order of the values; null for a type without one, which COLLECT, FIRST and LAST do not need.
     * @param ties an order of values that have the same place.
     */
    KeptEntries start(Comparator<Object> values, Comparator<Object> ties, int limit) {
        Comparator<Entry> first = Entry::compareByPlace;
        Comparator<Entry> tied = (one, other) -> ties.compare(one.value, other.value);
        Comparator<Entry> smallest = (one, other) -> values.compare(one.value, other.value);
        Comparator<Entry> rarest = Comparator.comparingLong(entry -> entry.count);
        return switch (this) {
            case FIRST, COLLECT -> new FirstInOrder(first.thenComparing(tied), limit, false);
            case LAST -> new FirstInOrder(first.reversed().thenComparing(tied), limit, false);
            case COLLECT_UNIQUE -> new FirstDistinct(values, first.thenComparing(tied), limit);
            case MAX, MAXK -> new FirstInOrder(smallest.reversed(), limit, false);
            case MAXK_UNIQUE -> new FirstInOrder(smallest.reversed(), limit, true);
            case MIN, MINK -> new FirstInOrder(smallest, limit, false);
            case MINK_UNIQUE -> new FirstInOrder(smallest, limit, true);
            case TOPK -> new FrequencyRanking(rarest.reversed().thenComparing(smallest), limit);
            case BOTTOMK -> new FrequencyRanking(rarest.thenComparing(smallest), limit);
        };
    }
}
