package com.lsqlrunner.errors;

import com.lsqlrunner.expression.Functions;
import com.lsqlrunner.expression.UnaryFunction;
import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * Whether some bytes are others than those of the call before, in the order of a task's rows: of the rows that were made
 * of one record, which follow one another, the first.
 */
public final class Once extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  private transient byte[] last;

  Once(Expression child) {
    super(child);
  }

  /** Gives a session the function {@code name(bytes)}. */
  public static void register(SparkSession session, String name) {
    Functions.register(session, name, arguments -> new Once(arguments.first()));
  }

  /** Whether these bytes are new. */
  public Boolean isNew(byte[] bytes) {
    boolean same = Arrays.equals(last, bytes);
    last = bytes;
    return !same;
  }

  @Override
  protected Object apply(Object value) {
    return isNew((byte[]) value);
  }

  @Override
  protected Once of(Expression other) {
    return new Once(other);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("isNew", context, result);
  }

  /** What it gives depends on the call before: Spark must neither move nor double it. */
  @Override
  public boolean deterministic() {
    return false;
  }

  @Override
  public DataType dataType() {
    return DataTypes.BooleanType;
  }

  @Override
  public String prettyName() {
    return "lsql_once";
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
    return other instanceof Once that && child.equals(that.child);
  }

  @Override
  public int hashCode() {
    return Objects.hash(getClass(), child);
  }
}
