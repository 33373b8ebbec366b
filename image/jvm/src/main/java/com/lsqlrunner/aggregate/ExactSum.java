package com.lsqlrunner.aggregate;

import com.lsqlrunner.expression.Functions;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The sum or the mean of whole numbers or decimals, however large it becomes: as text, since no type of Spark's holds all
 * of them. Whether its own type holds it is asked where that can be caught. Nulls are left out; null for no value. Over the
 * changes of a table, values are also taken out again.
 */
public final class ExactSum extends TypedImperativeAggregate<Total> implements Serializable {
  private static final long serialVersionUID = 1L;

  /** In place of the digits of a mean behind the point: as many as a double can use. */
  private static final int AS_DOUBLE = -1;

  private static final int NO_MEAN = -2;

  private final int digits;

  @SuppressWarnings("serial") // Spark's expressions can be serialized, which is not written in their types.
  private final Expression value;

  /** An int, 1 for a value that comes, -1 for one that goes; null where none goes. */
  @SuppressWarnings("serial")
  private final Expression sign;

  private final int mutableOffset;
  private final int inputOffset;

  private ExactSum(int digits, Expression value, Expression sign, int mutableOffset, int inputOffset) {
    this.digits = digits;
    this.value = value;
    this.sign = sign;
    this.mutableOffset = mutableOffset;
    this.inputOffset = inputOffset;
  }

  /**
   * Gives a session the aggregate {@code name(digits, value)}, and {@code name(digits, value, sign)} for values that are
   * taken out again. {@code digits} is a literal: how many a mean has behind the point, -1 for as many as a double can use,
   * -2 for the sum.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session,
        name,
        arguments -> {
          List<Expression> all = arguments.all();
          return new ExactSum(arguments.number(0), all.get(1), all.size() > 2 ? all.get(2) : null, 0, 0);
        });
  }

  @Override
  public Total createAggregationBuffer() {
    return new Total();
  }

  @Override
  public Total update(Total total, InternalRow row) {
    Object found = value.eval(row);
    if (found != null) {
      boolean goes = sign != null && (Integer) sign.eval(row) < 0;
      if (found instanceof Decimal decimal) {
        total.add(decimal.toJavaBigDecimal().setScale(scale()).unscaledValue(), goes);
      } else {
        total.add(((Number) found).longValue(), goes);
      }
    }
    return total;
  }

  private int scale() {
    return value.dataType() instanceof DecimalType decimal ? decimal.scale() : 0;
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

  // --- the expression ---

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

  @Override
  public Seq<Expression> children() {
    List<Expression> all = new ArrayList<>(List.of(value));
    if (sign != null) {
      all.add(sign);
    }
    return CollectionConverters.asScala(all).toSeq();
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    Expression last = sign == null ? null : children.apply(1);
    return new ExactSum(digits, children.apply(0), last, mutableOffset, inputOffset);
  }

  @Override
  public int mutableAggBufferOffset() {
    return mutableOffset;
  }

  @Override
  public ExactSum withNewMutableAggBufferOffset(int offset) {
    return new ExactSum(digits, value, sign, offset, inputOffset);
  }

  @Override
  public int inputAggBufferOffset() {
    return inputOffset;
  }

  @Override
  public ExactSum withNewInputAggBufferOffset(int offset) {
    return new ExactSum(digits, value, sign, mutableOffset, offset);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ExactSum;
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int at) {
    return at == 0 ? (Object) digits : value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExactSum that
        && digits == that.digits
        && value.equals(that.value)
        && Objects.equals(sign, that.sign)
        && mutableOffset == that.mutableOffset
        && inputOffset == that.inputOffset;
  }

  @Override
  public int hashCode() {
    return Objects.hash(digits, value, sign);
  }
}
