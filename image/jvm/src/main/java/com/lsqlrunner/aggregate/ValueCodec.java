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
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.unsafe.types.UTF8String;

/** Encodes values of one type for a state, and decodes them. Structs, arrays and maps are encoded as Spark's rows. */
abstract class ValueCodec {
    /** Writes a value that is not null. */
    abstract void write(Object value, StateBytes to);

    abstract Object read(StateBytes from);

    static ValueCodec of(DataType type) {
        if (type instanceof LongType || type instanceof TimestampType || type instanceof TimeType) {
            return new IntegralCodec(false);
        }
        if (type instanceof IntegerType || type instanceof DateType) {
            return new IntegralCodec(true);
        }
        if (type instanceof DoubleType || type instanceof FloatType) {
            return new FloatingCodec(type instanceof FloatType);
        }
        if (type instanceof StringType) {
            return new StringCodec();
        }
        if (type instanceof BooleanType) {
            return new BooleanCodec();
        }
        if (type instanceof BinaryType) {
            return new BinaryCodec();
        }
        return type instanceof DecimalType decimal ? new DecimalCodec(decimal) : new RowCodec(type);
    }

    private static final class IntegralCodec extends ValueCodec {
        private final boolean narrow;

        IntegralCodec(boolean narrow) {
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

    private static final class FloatingCodec extends ValueCodec {
        private final boolean narrow;

        FloatingCodec(boolean narrow) {
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

    private static final class StringCodec extends ValueCodec {
        @Override
        void write(Object value, StateBytes to) {
            to.writeBytes(((UTF8String) value).getBytes());
        }

        @Override
        Object read(StateBytes from) {
            return UTF8String.fromBytes(from.readBytes());
        }
    }

    private static final class BooleanCodec extends ValueCodec {
        @Override
        void write(Object value, StateBytes to) {
            to.writeByte((Boolean) value ? 1 : 0);
        }

        @Override
        Object read(StateBytes from) {
            return from.readByte() == 1;
        }
    }

    private static final class BinaryCodec extends ValueCodec {
        @Override
        void write(Object value, StateBytes to) {
            to.writeBytes((byte[]) value);
        }

        @Override
        Object read(StateBytes from) {
            return from.readBytes();
        }
    }

    private static final class DecimalCodec extends ValueCodec {
        private final DecimalType type;

        DecimalCodec(DecimalType type) {
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

    private static final class RowCodec extends ValueCodec {
        private final DataType type;
        private final UnsafeProjection projection;

        RowCodec(DataType type) {
            this.type = type;
            this.projection = UnsafeProjection$.MODULE$.create(new DataType[] {type});
        }

        @Override
        void write(Object value, StateBytes to) {
            InternalRow row = new GenericInternalRow(new Object[] {value});
            to.writeBytes(projection.apply(row).getBytes());
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
