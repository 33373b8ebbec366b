package com.lsqlrunner.aggregate;

import java.util.Comparator;

/** The aggregate functions that keep values. */
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

    /** Whether the result depends on the order of the records. */
    final boolean usesOrder;

    /** Whether the result is a value or null instead of an array. */
    final boolean isSingle;

    KeepFunction(boolean usesOrder, boolean isSingle) {
        this.usesOrder = usesOrder;
        this.isSingle = isSingle;
    }

    boolean countsValues() {
        return this == TOPK || this == BOTTOMK;
    }

    /**
     * An empty group.
     *
     * @param values the order of the values; null for a type without an order, which COLLECT, FIRST and LAST do not
     *     need
     * @param ties the order of values with the same sort key
     */
    KeptEntries empty(Comparator<Object> values, Comparator<Object> ties, int limit) {
        Comparator<Entry> bySortKey = Entry::compareBySortKey;
        Comparator<Entry> byTie = (left, right) -> ties.compare(left.value, right.value);
        Comparator<Entry> byValue = (left, right) -> values.compare(left.value, right.value);
        Comparator<Entry> byCount = Comparator.comparingLong(entry -> entry.count);
        return switch (this) {
            case FIRST, COLLECT -> new FirstInOrder(bySortKey.thenComparing(byTie), limit, false);
            case LAST -> new FirstInOrder(bySortKey.reversed().thenComparing(byTie), limit, false);
            case COLLECT_UNIQUE -> new FirstDistinct(values, bySortKey.thenComparing(byTie), limit);
            case MAX, MAXK -> new FirstInOrder(byValue.reversed(), limit, false);
            case MAXK_UNIQUE -> new FirstInOrder(byValue.reversed(), limit, true);
            case MIN, MINK -> new FirstInOrder(byValue, limit, false);
            case MINK_UNIQUE -> new FirstInOrder(byValue, limit, true);
            case TOPK -> new FrequencyRanking(byCount.reversed().thenComparing(byValue), limit);
            case BOTTOMK -> new FrequencyRanking(byCount.thenComparing(byValue), limit);
        };
    }
}
