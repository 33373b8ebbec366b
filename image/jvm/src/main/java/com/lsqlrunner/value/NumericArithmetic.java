package com.lsqlrunner.value;

import com.lsqlrunner.expression.BinaryFunction;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import org.apache.spark.QueryContext;
import org.apache.spark.SparkArithmeticException;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import scala.collection.immutable.Map;

/**
 * The sum, difference, product or quotient of two numbers of the type NUMERIC, with 18 digits after the point. Spark
 * gives products of such decimals only six. As in SQLite, the quotient of two whole numbers is whole.
 */
public final class NumericArithmetic extends BinaryFunction {
    /** The type of NUMERIC in Spark. */
    public static final DecimalType TYPE = DataTypes.createDecimalType(38, 18);

    private static final long serialVersionUID = 1L;

    private final String operator;

    /** @param operator {@code +}, {@code -}, {@code *} or {@code /} */
    public NumericArithmetic(Expression first, Expression second, String operator) {
        super(first, second, operator);
        this.operator = operator;
    }

    @Override
    public Decimal call(Object first, Object second) {
        BigDecimal result = result(((Decimal) first).toJavaBigDecimal(), ((Decimal) second).toJavaBigDecimal());
        // It fails with Spark's error of a number that is out of range.
        return Decimal.apply(result.setScale(TYPE.scale(), RoundingMode.HALF_UP))
                .toPrecision(TYPE.precision(), TYPE.scale(), Decimal.ROUND_HALF_UP(), false, null);
    }

    private BigDecimal result(BigDecimal a, BigDecimal b) {
        return switch (operator) {
            case "+" -> a.add(b);
            case "-" -> a.subtract(b);
            case "*" -> a.multiply(b);
            default -> quotient(a, b);
        };
    }

    private static BigDecimal quotient(BigDecimal a, BigDecimal b) {
        if (b.signum() == 0) {
            // PySpark cannot read Spark's own error without a place in the SQL.
            throw new SparkArithmeticException(
                    "DIVIDE_BY_ZERO",
                    new Map.Map1<>("config", SQLConf.ANSI_ENABLED().key()),
                    new QueryContext[0]);
        }
        return isWhole(a) && isWhole(b) ? a.divideToIntegralValue(b) : a.divide(b, TYPE.scale(), RoundingMode.HALF_UP);
    }

    private static boolean isWhole(BigDecimal number) {
        return number.remainder(BigDecimal.ONE).signum() == 0;
    }

    @Override
    protected NumericArithmetic withChildren(List<Expression> children) {
        return new NumericArithmetic(children.get(0), children.get(1), operator);
    }

    @Override
    public DataType dataType() {
        return TYPE;
    }

    @Override
    public String prettyName() {
        return "lsql_numeric_arithmetic";
    }
}
