package com.lsqlrunner.avro;

import com.lsqlrunner.expression.Functions;
import com.lsqlrunner.expression.UnaryFunction;
import java.util.Objects;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** A value to Avro in the wire format of a registry: a zero, the id of the schema as four bytes, the value. */
public final class EncodeAvro extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  private final String schema;
  private final int id;
  private transient RecordEncoder encoder;

  EncodeAvro(Expression child, String schema, int id) {
    super(child);
    this.schema = schema;
    this.id = id;
  }

  /** Gives a session the function {@code name(value, schema, id)}; the schema and its id are literals. */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session,
        name,
        arguments -> {
          CatalystTypes.parsed(arguments.text(1));
          return new EncodeAvro(arguments.first(), arguments.text(1), arguments.number(2));
        });
  }

  /** Says, before anything runs, which field does not fit the schema. */
  @Override
  public TypeCheckResult checkInputDataTypes() {
    try {
      newEncoder();
      return TypeCheckResult.TypeCheckSuccess$.MODULE$;
    } catch (Misfit error) {
      return new TypeCheckResult.TypeCheckFailure(error.getMessage());
    }
  }

  private RecordEncoder newEncoder() {
    return new RecordEncoder(child.dataType(), CatalystTypes.parsed(schema), id);
  }

  /** The record of a value. */
  public byte[] encode(Object value) {
    if (encoder == null) {
      encoder = newEncoder();
    }
    return encoder.encode(value);
  }

  @Override
  protected Object apply(Object value) {
    return encode(value);
  }

  @Override
  protected EncodeAvro of(Expression other) {
    return new EncodeAvro(other, schema, id);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("encode", context, result);
  }

  @Override
  public DataType dataType() {
    return DataTypes.BinaryType;
  }

  @Override
  public String prettyName() {
    return "lsql_encode_avro";
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : place == 1 ? schema : (Object) id;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EncodeAvro that && child.equals(that.child) && schema.equals(that.schema) && id == that.id;
  }

  @Override
  public int hashCode() {
    return Objects.hash(child, schema, id);
  }
}
