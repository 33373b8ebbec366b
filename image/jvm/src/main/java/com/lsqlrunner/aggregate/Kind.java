package com.lsqlrunner.aggregate;

import java.util.Comparator;

/** The aggregates of the language that keep values: what each goes by, and what it gives. */
enum Kind {
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

  /** Whether it gives one value or none, and not an array. */
  final boolean single;

  Kind(boolean byPlace, boolean single) {
    this.byPlace = byPlace;
    this.single = single;
  }

  boolean counts() {
    return this == TOPK || this == BOTTOMK;
  }

  /**
   * An empty group.
   *
   * @param values an order of the values; null where they have none, which COLLECT, FIRST and LAST do without.
   * @param ties tells two values apart that came at the same place.
   */
  Kept start(Comparator<Object> values, Comparator<Object> ties, int limit) {
    Comparator<Entry> first = Entry::compareByPlace;
    Comparator<Entry> tied = (one, other) -> ties.compare(one.value, other.value);
    Comparator<Entry> smallest = (one, other) -> values.compare(one.value, other.value);
    Comparator<Entry> rarest = Comparator.comparingLong(entry -> entry.count);
    return switch (this) {
      case FIRST, COLLECT -> new Leading(first.thenComparing(tied), limit, false);
      case LAST -> new Leading(first.reversed().thenComparing(tied), limit, false);
      case COLLECT_UNIQUE -> new Distinct(values, first.thenComparing(tied), limit);
      case MAX, MAXK -> new Leading(smallest.reversed(), limit, false);
      case MAXK_UNIQUE -> new Leading(smallest.reversed(), limit, true);
      case MIN, MINK -> new Leading(smallest, limit, false);
      case MINK_UNIQUE -> new Leading(smallest, limit, true);
      case TOPK -> new Counts(rarest.reversed().thenComparing(smallest), limit);
      case BOTTOMK -> new Counts(rarest.thenComparing(smallest), limit);
    };
  }
}
