package com.lsqlrunner.avro;

import java.util.Locale;
import org.apache.avro.Schema;

/** What a number of a logical type counts. */
enum TimeUnit {
  TIME_MILLIS(Kind.TIME, 1_000_000),
  TIME_MICROS(Kind.TIME, 1_000),
  TIMESTAMP_MILLIS(Kind.INSTANT, 1_000_000),
  TIMESTAMP_MICROS(Kind.INSTANT, 1_000),
  TIMESTAMP_NANOS(Kind.INSTANT, 1),
  LOCAL_TIMESTAMP_MILLIS(Kind.LOCAL, 1_000_000),
  LOCAL_TIMESTAMP_MICROS(Kind.LOCAL, 1_000),
  LOCAL_TIMESTAMP_NANOS(Kind.LOCAL, 1);

  /** What two schemas must share for one's numbers to be turned into the other's. */
  enum Kind {
    TIME,
    INSTANT,
    LOCAL
  }

  static final long MICROS = 1_000;

  final Kind kind;
  final long nanos;

  TimeUnit(Kind kind, long nanos) {
    this.kind = kind;
    this.nanos = nanos;
  }

  /** Null for a schema whose numbers count nothing. */
  static TimeUnit of(Schema schema) {
    String name = CatalystTypes.logical(schema);
    for (TimeUnit unit : values()) {
      if (unit.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(name)) {
        return unit;
      }
    }
    return null;
  }
}
