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
 * The sum or the mean of whole numbers or decimals of any size, as text, since no type of Spark holds all of them.
 * Whether the aggregate's own type holds the result is checked later, where a failure can be caught. Nulls are left
 * out; the result is null for no value. Over the changes of a table, values are also taken out again.
 */
public final class ExactSum extends RetractingAggregate<Total> {
    private static final long serialVersionUID = 1L;

    /** In place of the digits of a mean behind the point: as many as a double can use. */
    private static final int AS_DOUBLE = -1;

    private static final int NO_MEAN = -2;

    private final int digits;

    private ExactSum(int digits, Expression value, Expression sign, Offsets offsets) {
        super(value, List.of(), sign, offsets, digits);
        this.digits = digits;
    }

    /**
     * The aggregate {@code name(digits, value)}, and {@code name(digits, value, sign)} for values that are taken out
     * again. {@code digits} is a literal: how many a mean has behind the point, -1 for as many as a double can use, -2
     * for the sum.
     */
    public static Expression of(Arguments arguments) {
        Expression sign = arguments.all().size() > 2 ? arguments.at(2) : null;
        return new ExactSum(arguments.number(0), arguments.at(1), sign, Offsets.NONE);
    }

    @Override
    ExactSum copy(Expression value, List<Expression> more, Expression sign, Offsets offsets) {
        return new ExactSum(digits, value, sign, offsets);
    }

    @Override
    public Total createAggregationBuffer() {
        return new Total();
    }

    @Override
    public Total update(Total total, InternalRow row) {
        Object found = value().eval(row);
        if (found != null) {
            boolean goes = sign(row) < 0;
            if (found instanceof Decimal decimal) {
                total.add(decimal.toJavaBigDecimal().setScale(scale()).unscaledValue(), goes);
            } else {
                total.add(((Number) found).longValue(), goes);
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
        return UTF8String.fromString((digits == NO_MEAN ? sum : mean(sum, total.count())).toPlainString());
    }

    private BigDecimal mean(BigDecimal sum, long count) {
        BigDecimal divisor = BigDecimal.valueOf(count);
        return digits == AS_DOUBLE
                ? sum.divide(divisor, MathContext.DECIMAL128)
                : sum.divide(divisor, digits, RoundingMode.HALF_UP);
    }

    @Override
    public byte[] serialize(Total total) {
        return total.write();
    }

    @Override
    public Total deserialize(byte[] bytes) {
        return Total.read(bytes);
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
