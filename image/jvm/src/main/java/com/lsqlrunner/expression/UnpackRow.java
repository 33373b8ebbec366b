package com.lsqlrunner.expression;

import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** The struct that {@link PackRow} has made bytes of. Nothing is copied or parsed. */
public final class UnpackRow extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  private final StructType schema;

  UnpackRow(Expression child, StructType schema) {
    super(child);
    this.schema = schema;
  }

  /** Gives a session the function {@code name(bytes, schema)}; the schema is a literal, in the JSON of Spark's types. */
  public static void register(SparkSession session, String name) {
    Functions.register(session, name, arguments -> new UnpackRow(arguments.first(), arguments.type(1).asNullable()));
  }

  /** The struct in these bytes. */
  public InternalRow unpack(byte[] bytes) {
    UnsafeRow row = new UnsafeRow(schema.length());
    row.pointTo(bytes, bytes.length);
    return row;
  }

  @Override
  protected Object apply(Object value) {
    return unpack((byte[]) value);
  }

  @Override
  protected UnpackRow of(Expression other) {
    return new UnpackRow(other, schema);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("unpack", context, result);
  }

  @Override
  public DataType dataType() {
    return schema;
  }

  @Override
  public String prettyName() {
    return "lsql_unpack_row";
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : schema;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UnpackRow that && child.equals(that.child) && schema.equals(that.schema);
  }

  @Override
  public int hashCode() {
    return Objects.hash(child, schema);
  }
}
