package com.lsqlrunner.avro;

import java.util.Locale;
import org.apache.avro.Schema;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.TimeType;

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
        TIME(1, new TimeType(TimeType.MICROS_PRECISION())),
        INSTANT(NANOS_PER_MICRO, DataTypes.TimestampType),
        LOCAL(NANOS_PER_MICRO, DataTypes.TimestampNTZType);

        /** The length of the unit in which Spark counts, in nanoseconds. */
        final long sparkNanos;

        final DataType sparkType;

        Kind(long sparkNanos, DataType sparkType) {
            this.sparkNanos = sparkNanos;
            this.sparkType = sparkType;
        }
    }

    static final long NANOS_PER_DAY = 86_400_000_000_000L;

    private static final long NANOS_PER_MICRO = 1_000;

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
