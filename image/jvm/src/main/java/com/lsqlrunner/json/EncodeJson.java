package com.lsqlrunner.json;

import com.lsqlrunner.expression.Functions;
import com.lsqlrunner.expression.UnaryFunction;
import java.io.CharArrayWriter;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonGenerator;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Map;

/**
 * A struct to the bytes of a JSON object, null fields and all: what {@code to_json} does, with Spark's own generator.
 * {@code to_json} calls it through an expression that loads the whole of Scala's reflection, a third of a second of the
 * first batch, and gives characters.
 */
public final class EncodeJson extends UnaryFunction {
  private static final long serialVersionUID = 1L;
  private static final String MILLISECONDS = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";

  private transient JacksonGenerator generator;
  private transient CharArrayWriter text;

  EncodeJson(Expression child) {
    super(child);
  }

  /** Gives a session the function {@code name(struct)}. */
  public static void register(SparkSession session, String name) {
    Functions.register(session, name, arguments -> new EncodeJson(arguments.first()));
  }

  @Override
  public TypeCheckResult checkInputDataTypes() {
    return child.dataType() instanceof StructType
        ? TypeCheckResult.TypeCheckSuccess$.MODULE$
        : new TypeCheckResult.TypeCheckFailure("a struct is needed, not " + child.dataType().simpleString());
  }

  /** The JSON object of a struct, in UTF-8. */
  public byte[] encode(InternalRow struct) {
    if (generator == null) {
      Map<String, String> options = new Map.Map2<>("ignoreNullFields", "false", "timestampFormat", MILLISECONDS);
      text = new CharArrayWriter();
      generator = new JacksonGenerator(child.dataType(), text, new JSONOptions(options, "UTC", ""));
    }
    generator.write(struct);
    generator.flush();
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    text.reset();
    return bytes;
  }

  @Override
  protected Object apply(Object value) {
    return encode((InternalRow) value);
  }

  @Override
  protected EncodeJson of(Expression other) {
    return new EncodeJson(other);
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
  public boolean nullable() {
    return child.nullable();
  }

  @Override
  public String prettyName() {
    return "lsql_encode_json";
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
    return other instanceof EncodeJson that && child.equals(that.child);
  }

  @Override
  public int hashCode() {
    return Objects.hash(getClass(), child);
  }
}
