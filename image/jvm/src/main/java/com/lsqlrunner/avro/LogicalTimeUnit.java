package com.lsqlrunner.avro;

import java.util.Locale;
import org.apache.avro.Schema;

/** The unit of a number with a logical type of date and time. */
enum LogicalTimeUnit {
    TIME_MILLIS(Kind.TIME, 1_000_000),
    TIME_MICROS(Kind.TIME, 1_000),
    TIMESTAMP_MILLIS(Kind.INSTANT, 1_000_000),
    TIMESTAMP_MICROS(Kind.INSTANT, 1_000),
    TIMESTAMP_NANOS(Kind.INSTANT, 1),
    LOCAL_TIMESTAMP_MILLIS(Kind.LOCAL, 1_000_000),
    LOCAL_TIMESTAMP_MICROS(Kind.LOCAL, 1_000),
    LOCAL_TIMESTAMP_NANOS(Kind.LOCAL, 1);

    /** Numbers are converted only between units of the same kind. */
    enum Kind {
        TIME,
        INSTANT,
        LOCAL
    }

    static final long NANOS_PER_MICRO = 1_000;

    final Kind kind;
    /** The length of the unit in nanoseconds. */
    final long nanos;

    LogicalTimeUnit(Kind kind, long nanos) {
        this.kind = kind;
        this.nanos = nanos;
    }

    /** Null for a schema without such a logical type. */
    static LogicalTimeUnit of(Schema schema) {
        String name = CatalystTypes.logicalType(schema);
        for (LogicalTimeUnit unit : values()) {
            if (unit.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(name)) {
                return unit;
            }
        }
        return null;
    }
}
