package com.lsqlrunner.value;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.math.BigDecimal;
import java.time.ZoneOffset;
import java.util.function.Function;
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

/**
 * Reads values that are text: all values of CSV and XML, and JSON values of types without a JSON form. Dates and times
 * have the forms of CAST. Blanks around values other than strings are ignored.
 */
public final class TextValues {
    private static final int MAX_NUMBER_LENGTH = 400;
    private static final UTF8String POINT = UTF8String.fromString(".");
    private static final Pattern NUMBER = Pattern.compile("[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d{1,6})?");

    // Spark would also read 2020 and 2020-06 as dates, and 12:30 as a timestamp of today.
    private static final Pattern DATE = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");
    private static final Pattern TIME = Pattern.compile("\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d{1,6})?)?");
    private static final Pattern TIMESTAMP = Pattern.compile("\\d{4}-\\d{2}-\\d{2}(?:[ T].*)?");

    private TextValues() {}

    /** Reads one value; {@link MalformedRecordException} if the text is not valid. Threads may share it. */
    @FunctionalInterface
    public interface TextReader {
        Object read(UTF8String text);
    }

    /** A reader of values of a type without nested values. */
    public static TextReader of(DataType type) {
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
            return text -> require(DATE, text, "date", DateTimeUtils::stringToDate);
        }
        if (type instanceof TimeType) {
            return text -> require(TIME, text, "time", DateTimeUtils::stringToTime);
        }
        if (type instanceof TimestampType) {
            return text -> require(
                    TIMESTAMP, text, "timestamp", utf8 -> DateTimeUtils.stringToTimestamp(utf8, ZoneOffset.UTC));
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
        // Compare before setting the scale: a short text may represent millions of digits.
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

    private static Object require(
            Pattern form, UTF8String text, String name, Function<UTF8String, Option<Object>> parse) {
        Option<Object> value = form.matcher(text.toString()).matches() ? parse.apply(text) : Option.empty();
        if (value.isEmpty()) {
            throw malformed(text, name);
        }
        return value.get();
    }

    private static MalformedRecordException malformed(UTF8String text, String name) {
        return new MalformedRecordException(ShownValue.ofText(text) + " is not a valid " + name);
    }
}
