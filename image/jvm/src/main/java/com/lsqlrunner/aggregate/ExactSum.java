package com.lsqlrunner.aggregate;

import com.lsqlrunner.expression.Arguments;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The sum or the mean of whole numbers or decimals of any size, as text, because no type of Spark can represent all of
 * them. Whether the declared type can hold the result is checked later, where a failure can be handled. Nulls are
 * ignored; without values the result is null. Over the changes of a table, values are also retracted.
 */
public final class ExactSum extends RetractingAggregate<Total> {
    private static final long serialVersionUID = 1L;

    /** Instead of a number of fraction digits: a mean with 34 digits, more than a double can represent. */
    private static final int AS_DOUBLE = -1;

    /** Instead of a number of fraction digits: the sum. */
    private static final int SUM = -2;

    private final int fractionDigits;

    private ExactSum(int fractionDigits, Expression value, Expression sign, Offsets offsets) {
        super(value, List.of(), sign, offsets, fractionDigits);
        this.fractionDigits = fractionDigits;
    }

    /**
     * The aggregate {@code name(digits, value)}, or {@code name(digits, value, sign)} if values are retracted.
     * {@code digits} is a literal: the number of fraction digits of a mean, -1 for 34 digits in total, -2 for the sum.
     */
    public static Expression of(Arguments arguments) {
        Expression sign = arguments.all().size() > 2 ? arguments.at(2) : null;
        return new ExactSum(arguments.number(0), arguments.at(1), sign, Offsets.NONE);
    }

    @Override
    ExactSum copy(Expression value, List<Expression> more, Expression sign, Offsets offsets) {
        return new ExactSum(fractionDigits, value, sign, offsets);
    }

    @Override
    public Total createAggregationBuffer() {
        return new Total();
    }

    @Override
    public Total update(Total total, InternalRow row) {
        Object value = value().eval(row);
        if (value != null) {
            boolean isRetraction = sign(row) < 0;
            if (value instanceof Decimal decimal) {
                total.add(decimal.toJavaBigDecimal().setScale(scale()).unscaledValue(), isRetraction);
            } else {
                total.add(((Number) value).longValue(), isRetraction);
            }
        }
        return total;
    }

    private int scale() {
        return value().dataType() instanceof DecimalType decimal ? decimal.scale() : 0;
    }

    @Override
    public Total merge(Total total, Total other) {
        total.add(other);
        return total;
    }

    @Override
    public Object eval(Total total) {
        if (total.count() <= 0) {
            return null;
        }
        BigDecimal sum = new BigDecimal(total.sum(), scale());
        return UTF8String.fromString((fractionDigits == SUM ? sum : mean(sum, total.count())).toPlainString());
    }

    private BigDecimal mean(BigDecimal sum, long count) {
        BigDecimal divisor = BigDecimal.valueOf(count);
        return fractionDigits == AS_DOUBLE
                ? sum.divide(divisor, MathContext.DECIMAL128)
                : sum.divide(divisor, fractionDigits, RoundingMode.HALF_UP);
    }

    @Override
    public byte[] serialize(Total total) {
        return total.toBytes();
    }

    @Override
    public Total deserialize(byte[] bytes) {
        return Total.ofBytes(bytes);
    }

    @Override
    public DataType dataType() {
        return DataTypes.StringType;
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    public String prettyName() {
        return "lsql_exact_sum";
    }
}
