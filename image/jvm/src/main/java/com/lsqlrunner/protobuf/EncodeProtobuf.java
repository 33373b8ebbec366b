package com.lsqlrunner.protobuf;

import com.lsqlrunner.avro.Misfit;
import com.lsqlrunner.expression.Functions;
import com.lsqlrunner.expression.UnaryFunction;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** A struct to Protobuf in the wire format of a registry: a zero, the id of the schema, the message, the fields. */
public final class EncodeProtobuf extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  private final String message;
  private final int id;
  private transient RecordWriter writer;

  EncodeProtobuf(Expression child, String message, int id) {
    super(child);
    this.message = message;
    this.id = id;
  }

  /**
   * Gives a session the function {@code name(value, message, id)}; the message as {@link MessageSpec} reads it
   * and the id of its schema are literals.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new EncodeProtobuf(arguments.first(), arguments.text(1), arguments.number(2)));
  }

  /** Says, before anything runs, which field does not fit the message. */
  @Override
  public TypeCheckResult checkInputDataTypes() {
    try {
      newWriter();
      return TypeCheckResult.TypeCheckSuccess$.MODULE$;
    } catch (Misfit error) {
      return new TypeCheckResult.TypeCheckFailure(error.getMessage());
    }
  }

  private RecordWriter newWriter() {
    if (!(child.dataType() instanceof StructType type)) {
      throw new Misfit("a record of Protobuf is a struct, not " + child.dataType().simpleString());
    }
    return new RecordWriter(type, MessageSpec.of(message), id);
  }

  /** The record of a value. */
  public byte[] encode(Object value) {
    if (writer == null) {
      writer = newWriter();
    }
    return writer.write((InternalRow) value);
  }

  @Override
  protected Object apply(Object value) {
    return encode(value);
  }

  @Override
  protected EncodeProtobuf of(Expression other) {
    return new EncodeProtobuf(other, message, id);
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
    return "lsql_encode_protobuf";
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : place == 1 ? message : (Object) id;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof EncodeProtobuf that && child.equals(that.child) && message.equals(that.message) && id == that.id;
  }

  @Override
  public int hashCode() {
    return Objects.hash(child, message, id);
  }
}
