package com.lsqlrunner.aggregate;

import java.math.BigInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.BinaryType;
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
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Values of one type to the bytes of a state and back. Structs, arrays and maps are as Spark lays out a row of one. */
abstract class ValueCodec {
    /** A value that is not null. */
    abstract void write(Object value, StateBytes to);

    abstract Object read(StateBytes from);

    static ValueCodec of(DataType type) {
        if (type instanceof LongType || type instanceof TimestampType) {
            return new Whole(false);
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return new Whole(true);
        }
        if (type instanceof DoubleType || type instanceof FloatType) {
            return new Floating(type instanceof FloatType);
        }
        if (type instanceof StringType) {
            return new Text();
        }
        if (type instanceof BooleanType) {
            return new Bool();
        }
        if (type instanceof BinaryType) {
            return new Bytes();
        }
        return type instanceof DecimalType decimal ? new Fixed(decimal) : new Composite(type);
    }

    private static final class Whole extends ValueCodec {
        private final boolean narrow;

        Whole(boolean narrow) {
            this.narrow = narrow;
        }

        @Override
        void write(Object value, StateBytes to) {
            to.writeLong(((Number) value).longValue());
        }

        @Override
        Object read(StateBytes from) {
            long value = from.readLong();
            return narrow ? (Object) (int) value : (Object) value;
        }
    }

    private static final class Floating extends ValueCodec {
        private final boolean narrow;

        Floating(boolean narrow) {
            this.narrow = narrow;
        }

        @Override
        void write(Object value, StateBytes to) {
            to.writeDouble(((Number) value).doubleValue());
        }

        @Override
        Object read(StateBytes from) {
            double value = from.readDouble();
            return narrow ? (Object) (float) value : (Object) value;
        }
    }

    private static final class Text extends ValueCodec {
        @Override
        void write(Object value, StateBytes to) {
            to.writeBytes(((UTF8String) value).getBytes());
        }

        @Override
        Object read(StateBytes from) {
            return UTF8String.fromBytes(from.readBytes());
        }
    }

    private static final class Bool extends ValueCodec {
        @Override
        void write(Object value, StateBytes to) {
            to.writeByte((Boolean) value ? 1 : 0);
        }

        @Override
        Object read(StateBytes from) {
            return from.readByte() == 1;
        }
    }

    private static final class Bytes extends ValueCodec {
        @Override
        void write(Object value, StateBytes to) {
            to.writeBytes((byte[]) value);
        }

        @Override
        Object read(StateBytes from) {
            return from.readBytes();
        }
    }

    private static final class Fixed extends ValueCodec {
        private final DecimalType type;

        Fixed(DecimalType type) {
            this.type = type;
        }

        @Override
        void write(Object value, StateBytes to) {
            to.writeBytes(((Decimal) value)
                    .toJavaBigDecimal()
                    .setScale(type.scale())
                    .unscaledValue()
                    .toByteArray());
        }

        @Override
        Object read(StateBytes from) {
            java.math.BigDecimal value = new java.math.BigDecimal(new BigInteger(from.readBytes()), type.scale());
            return Decimal.apply(value, type.precision(), type.scale());
        }
    }

    private static final class Composite extends ValueCodec {
        private final DataType type;
        private final UnsafeProjection rows;

        Composite(DataType type) {
            this.type = type;
            this.rows = UnsafeProjection$.MODULE$.create(new DataType[] {type});
        }

        @Override
        void write(Object value, StateBytes to) {
            InternalRow row = new GenericInternalRow(new Object[] {value});
            to.writeBytes(rows.apply(row).getBytes());
        }

        @Override
        Object read(StateBytes from) {
            byte[] bytes = from.readBytes();
            UnsafeRow row = new UnsafeRow(1);
            row.pointTo(bytes, bytes.length);
            return row.get(0, type);
        }
    }
}
