package com.lsqlrunner.expression;

import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import org.apache.spark.sql.types.DataType;

/**
 * A record's bytes to a value. What {@link Malformed} says of bytes becomes Spark's own condition, and so does a null where
 * the type says that there is none.
 */
public abstract class Decoding extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // Spark's types can be serialized, which is not written in their class.
  private final DataType declared;

  @SuppressWarnings("serial")
  private final DataType type;
  private final String[] parameters;

  private transient Required required;
  private transient boolean isReady;

  /**
   * @param declared the type of the values; fields of it may be such that may not be null
   * @param parameters all else that two decodings differ by; shown in plans
   */
  protected Decoding(Expression child, DataType declared, String... parameters) {
    super(child);
    this.declared = declared;
    this.type = declared.asNullable();
    this.parameters = parameters;
  }

  /** The value in a record; {@link Malformed} if it holds none. */
  protected abstract Object decoded(byte[] record);

  /** The value in a record, for generated code. */
  public final Object decode(byte[] record) {
    try {
      Object value = decoded(record);
      checkNulls(value);
      return value;
    } catch (Malformed error) {
      throw Decoding.<RuntimeException>thrown(
          QueryExecutionErrors.malformedRecordsDetectedInRecordParsingError(error.getMessage(), error));
    }
  }

  private void checkNulls(Object value) {
    if (!isReady) {
      required = Required.of(declared);
      isReady = true;
    }
    String missing = required == null || value == null ? null : required.missing((InternalRow) value);
    if (missing != null) {
      throw new Malformed(missing + " is null");
    }
  }

  /** The type as it was declared. */
  protected final DataType declared() {
    return declared;
  }

  /** Throws an exception that Java would want to be declared; Spark's own are such. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException thrown(Throwable error) throws E {
    throw (E) error;
  }

  protected final String parameter(int place) {
    return parameters[place];
  }

  @Override
  protected Object apply(Object value) {
    return decode((byte[]) value);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("decode", context, result);
  }

  @Override
  public DataType dataType() {
    return type;
  }

  @Override
  public int productArity() {
    return 1 + parameters.length;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : parameters[place - 1];
  }

  @Override
  public boolean equals(Object other) {
    return canEqual(other)
        && child.equals(((Decoding) other).child)
        && declared.equals(((Decoding) other).declared)
        && Arrays.equals(parameters, ((Decoding) other).parameters);
  }

  @Override
  public int hashCode() {
    return Objects.hash(getClass(), child, Arrays.hashCode(parameters));
  }
}
