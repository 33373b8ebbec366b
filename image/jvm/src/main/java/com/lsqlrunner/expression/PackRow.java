package com.lsqlrunner.expression;

import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * A struct to Spark's own bytes of it, which are the same for the same values: what state is kept in, and what keys are
 * compared by. {@link UnpackRow} is the way back.
 */
public final class PackRow extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  private transient UnsafeProjection packed;

  PackRow(Expression child) {
    super(child);
  }

  /** Gives a session the function {@code name(struct)}. */
  public static void register(SparkSession session, String name) {
    Functions.register(session, name, arguments -> new PackRow(arguments.first()));
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    return child.dataType() instanceof StructType
        ? TypeCheckResult.TypeCheckSuccess$.MODULE$
        : new TypeCheckResult.TypeCheckFailure("a struct is needed, not " + child.dataType().simpleString());
  }

  /** The bytes of a struct. */
  public byte[] pack(InternalRow struct) {
    if (struct instanceof UnsafeRow unsafe) {
      return unsafe.copy().getBytes();
    }
    if (packed == null) {
      packed = UnsafeProjection.create((StructType) child.dataType());
    }
    return packed.apply(struct).copy().getBytes();
  }

  @Override
  protected Object apply(Object value) {
    return pack((InternalRow) value);
  }

  @Override
  protected PackRow of(Expression other) {
    return new PackRow(other);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("pack", context, result);
  }

  @Override
  public DataType dataType() {
    return DataTypes.BinaryType;
  }

  @Override
  public String prettyName() {
    return "lsql_pack_row";
  }

  @Override
  public int productArity() {
    return 1;
  }

  @Override
  public Object productElement(int place) {
    return child;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PackRow that && child.equals(that.child);
  }

  @Override
  public int hashCode() {
    return Objects.hash(getClass(), child);
  }
}
