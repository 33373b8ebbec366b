package com.lsqlrunner.errors;

import com.lsqlrunner.expression.Functions;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The value of an expression, or why a record has none: {@code struct<value, error: struct<side, code, message>>}, one of
 * the two null. What {@link Faults} does not know for a fault of the record is thrown as it is.
 *
 * <p>A record that failed before fails here with the same error, and its value is not computed.
 *
 * <p>The value is computed by generated code of its own, made once for each task: what surrounds it would otherwise
 * compute it, or parts that it shares with others, outside of the attempt. For the same reason Spark must take it for
 * what gives another value each time: it moves such an expression nowhere, and makes no second one of it.
 */
public final class Attempt extends Expression implements CodegenFallback, Serializable {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // Spark's expressions can be serialized, which is not written in their types.
  private final Expression value;

  @SuppressWarnings("serial")
  private final Expression earlier;

  private final String rules;
  private transient UnsafeProjection projection;
  private transient Faults faults;

  Attempt(Expression value, Expression earlier, String rules) {
    this.value = value;
    this.earlier = earlier;
    this.rules = rules;
  }

  /**
   * Gives a session the function {@code name(value, earlier, rules)}: the error of an earlier attempt, or a null of its
   * type, and a literal that {@link Faults#of} reads.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new Attempt(arguments.first(), arguments.all().get(1), arguments.text(2)));
  }

  @Override
  public Object eval(InternalRow row) {
    if (faults == null) {
      faults = Faults.of(rules);
    }
    return Tried.of(earlier.eval(row), () -> computed(row), faults);
  }

  private Object computed(InternalRow row) {
    if (projection == null) {
      projection = UnsafeProjection.create(value);
      projection.initialize(TaskContext.getPartitionId());
    }
    InternalRow computed = projection.apply(row);
    return computed.isNullAt(0) ? null : computed.get(0, value.dataType());
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return CodegenFallback.super.doGenCode(context, result);
  }

  @Override
  public boolean deterministic() {
    return false;
  }

  @Override
  public boolean nullable() {
    return false;
  }

  @Override
  public DataType dataType() {
    return new StructType().add("value", value.dataType(), true).add("error", Fault.TYPE, true);
  }

  @Override
  public Seq<Expression> children() {
    return CollectionConverters.asScala(List.of(value, earlier)).toSeq();
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return new Attempt(children.apply(0), children.apply(1), rules);
  }

  @Override
  public String prettyName() {
    return "lsql_attempt";
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? value : place == 1 ? earlier : rules;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof Attempt;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Attempt that
        && value.equals(that.value)
        && earlier.equals(that.earlier)
        && rules.equals(that.rules);
  }

  @Override
  public int hashCode() {
    return Objects.hash(value, earlier, rules);
  }
}
