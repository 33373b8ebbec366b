package com.lsqlrunner.text;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.math.BigDecimal;
import java.time.ZoneOffset;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/** Reads values of formats in which all values are text. Blanks around values other than strings are ignored. */
final class TextValues {
    private static final int MAX_NUMBER_LENGTH = 400;
    private static final UTF8String POINT = UTF8String.fromString(".");
    private static final UTF8String DASH = UTF8String.fromString("-");
    private static final Pattern NUMBER = Pattern.compile("[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d{1,6})?");

    private TextValues() {}

    /** Reads one value; {@link MalformedRecordException} if the text is not valid. Threads may share it. */
    @FunctionalInterface
    interface TextReader {
        Object read(UTF8String text);
    }

    /** A reader of values of a type without nested values. */
    static TextReader of(DataType type) {
        if (type instanceof StringType) {
            return TextValues::text;
        }
        TextReader value = trimmed(type);
        return text -> value.read(text.trimAll());
    }

    private static TextReader trimmed(DataType type) {
        if (type instanceof IntegerType) {
            return text -> (int) whole(text, Integer.MIN_VALUE, Integer.MAX_VALUE, "int");
        }
        if (type instanceof LongType) {
            return text -> whole(text, Long.MIN_VALUE, Long.MAX_VALUE, "long");
        }
        if (type instanceof DoubleType) {
            return text -> real(text, "double");
        }
        if (type instanceof FloatType) {
            return TextValues::single;
        }
        if (type instanceof DecimalType decimal) {
            return text -> decimal(text, decimal);
        }
        if (type instanceof BooleanType) {
            return TextValues::bool;
        }
        if (type instanceof DateType) {
            return text -> require(DateTimeUtils.stringToDate(text), text, "date");
        }
        if (type instanceof TimeType) {
            return text -> require(DateTimeUtils.stringToTime(text), text, "time");
        }
        if (type instanceof TimestampType) {
            return TextValues::timestamp;
        }
        throw new IllegalArgumentException("no text form of " + type.simpleString());
    }

    private static UTF8String text(UTF8String text) {
        if (!text.isValid()) {
            throw new MalformedRecordException("a text is not UTF-8");
        }
        return text;
    }

    private static long whole(UTF8String text, long min, long max, String name) {
        UTF8String.LongWrapper wrapper = new UTF8String.LongWrapper();
        boolean isFraction = text.indexOf(POINT, 0) >= 0; // Spark would truncate the value
        if (isFraction || !text.toLong(wrapper) || wrapper.value < min || wrapper.value > max) {
            throw malformed(text, name);
        }
        return wrapper.value;
    }

    private static double real(UTF8String text, String name) {
        switch (text.toString()) {
            case "NaN":
                return Double.NaN;
            case "INF", "Infinity":
                return Double.POSITIVE_INFINITY;
            case "-INF", "-Infinity":
                return Double.NEGATIVE_INFINITY;
            default:
                double value = Double.parseDouble(number(text, name)); // parseDouble alone also accepts 1d and 0x1p3
                if (Double.isInfinite(value)) {
                    throw malformed(text, name);
                }
                return value;
        }
    }

    private static Object single(UTF8String text) {
        double value = real(text, "float");
        float rounded = (float) value;
        if (Float.isInfinite(rounded) && !Double.isInfinite(value)) {
            throw malformed(text, "float");
        }
        return rounded;
    }

    private static Object decimal(UTF8String text, DecimalType type) {
        String name = type.simpleString();
        BigDecimal value = new BigDecimal(number(text, name)).stripTrailingZeros();
        // Compare before setting the scale: a short text may stand for millions of digits.
        if (value.scale() > type.scale()
                || (long) value.precision() - value.scale() > type.precision() - type.scale()) {
            throw malformed(text, name);
        }
        return Decimal.apply(value.setScale(type.scale()), type.precision(), type.scale());
    }

    private static String number(UTF8String text, String name) {
        String digits = text.numBytes() > MAX_NUMBER_LENGTH ? "" : text.toString();
        if (!NUMBER.matcher(digits).matches()) {
            throw malformed(text, name);
        }
        return digits;
    }

    private static Object bool(UTF8String text) {
        return switch (text.toLowerCase().toString()) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw malformed(text, "boolean");
        };
    }

    private static Object timestamp(UTF8String text) {
        if (text.indexOf(DASH, 0) < 0) { // Spark would read a time without a date as a time of today
            throw malformed(text, "timestamp");
        }
        return require(DateTimeUtils.stringToTimestamp(text, ZoneOffset.UTC), text, "timestamp");
    }

    private static Object require(Option<Object> value, UTF8String text, String name) {
        if (value.isEmpty()) {
            throw malformed(text, name);
        }
        return value.get();
    }

    private static MalformedRecordException malformed(UTF8String text, String name) {
        return new MalformedRecordException(ShownValue.ofText(text) + " is not a valid " + name);
    }
}
