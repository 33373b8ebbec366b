package com.lsqlrunner.function;

import com.lsqlrunner.errors.HiddenValues;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.api.java.UDF5;

/** User-defined functions of the tests. */
public final class Functions {
    private Functions() {}

    /** Returns its argument. */
    public static final class Same implements UDF1<Object, Object> {
        private static final long serialVersionUID = 1L;

        @Override
        public Object call(Object value) {
            return value;
        }
    }

    /** Returns the class of its argument. */
    public static final class ClassName implements UDF1<Object, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String call(Object value) {
            return value.getClass().getName();
        }
    }

    /** Takes the classes of {@code java.time}. */
    public static final class DayOf implements UDF2<LocalDate, Instant, LocalDate> {
        private static final long serialVersionUID = 1L;

        @Override
        public LocalDate call(LocalDate day, Instant time) {
            return day.plusDays(time.getEpochSecond());
        }
    }

    /** Takes all kinds of collections. */
    public static final class Describe
            implements UDF5<List<String>, Map<String, Long>, Row, LocalTime, BigDecimal, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String call(List<String> items, Map<String, Long> map, Row row, LocalTime time, BigDecimal number) {
            return items + " " + map + " " + row.getAs("name") + " " + time + " " + number;
        }
    }

    /** Counts its calls; the second argument may be null. */
    public static final class Count implements UDF2<String, String, Integer> {
        private static final long serialVersionUID = 1L;

        private int calls;

        @Override
        public Integer call(String first, String second) {
            return ++calls;
        }
    }

    /** Throws what its argument names. */
    public static final class Throwing implements UDF1<String, String> {
        private static final long serialVersionUID = 1L;

        @Override
        public String call(String kind) throws Exception {
            return switch (kind) {
                case "exception" -> throw new IllegalArgumentException("negative\namount");
                case HiddenValues.SECRET -> throw new IllegalStateException("not " + kind, new IOException(kind));
                case "null" -> throw new NullPointerException();
                case "interrupted" -> throw new InterruptedException("by itself");
                case "flag" -> {
                    Thread.currentThread().interrupt();
                    yield kind;
                }
                case "endless" -> call(kind);
                case "missing" -> throw new NoClassDefFoundError("com/example/Library");
                case "uninitialized " + HiddenValues.SECRET ->
                    throw new ExceptionInInitializerError(new IllegalStateException("not " + kind));
                case "native " + HiddenValues.SECRET -> throw new UnsatisfiedLinkError("no library " + kind);
                case "memory" -> throw new OutOfMemoryError("heap");
                default -> kind;
            };
        }
    }

    /** Has a constructor that throws. */
    public static final class Unbuildable implements UDF1<String, String> {
        private static final long serialVersionUID = 1L;

        /** Throws. */
        public Unbuildable() {
            throw new IllegalStateException("no licence");
        }

        @Override
        public String call(String value) {
            return value;
        }
    }

    /** Has an initializer that throws. */
    public static final class Uninitialized implements UDF1<String, String> {
        private static final long serialVersionUID = 1L;
        private static final int NUMBER = Integer.parseInt("x");

        @Override
        public String call(String value) {
            return value + NUMBER;
        }
    }
}
