package com.lsqlrunner.avro;

import com.lsqlrunner.expression.UnaryFunction;
import java.util.Objects;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import org.apache.spark.sql.types.DataType;

/**
 * Avro in the wire format of a registry to a value. Each record is read with the schema that it was written with, and
 * made what one schema says: {@code from_avro} knows one writer.
 */
public final class DecodeAvro extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  private final String schema;
  private final String registry;
  private final DataType type;
  private transient RecordDecoder decoder;
  private transient AvroBytes bytes;

  DecodeAvro(Expression child, String schema, String registry, DataType type) {
    super(child);
    this.schema = schema;
    this.registry = registry;
    this.type = type;
  }

  /**
   * Gives a session the function {@code name(bytes, schema, registry)}; the reader's schema and the name that {@link
   * Registry#register} was told are literals. It fails on a schema that Spark has no type for.
   */
  public static void register(SparkSession session, String name) {
    session
        .sessionState()
        .functionRegistry()
        .createOrReplaceTempFunction(
            name,
            arguments -> {
              String schema = ((Literal) arguments.apply(1)).value().toString();
              String registry = ((Literal) arguments.apply(2)).value().toString();
              return new DecodeAvro(arguments.head(), schema, registry, typeOf(schema));
            },
            "java_udf");
  }

  /** The type of what is decoded: Spark's, in its JSON. */
  public static String typeJson(String schema) {
    return typeOf(schema).json();
  }

  private static DataType typeOf(String schema) {
    return CatalystTypes.of(CatalystTypes.parsed(schema));
  }

  /** The value in a record. */
  public Object decode(byte[] record) {
    if (decoder == null) {
      decoder = Registry.named(registry).decoder(schema);
      bytes = new AvroBytes();
    }
    try {
      return decoder.decode(record, bytes);
    } catch (Malformed error) {
      throw DecodeAvro.<RuntimeException>thrown(
          QueryExecutionErrors.malformedRecordsDetectedInRecordParsingError(error.getMessage(), error));
    }
  }

  /** Throws an exception that Java would want to be declared; Spark's own are such. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException thrown(Throwable error) throws E {
    throw (E) error;
  }

  @Override
  protected Object apply(Object value) {
    return decode((byte[]) value);
  }

  @Override
  protected DecodeAvro of(Expression other) {
    return new DecodeAvro(other, schema, registry, type);
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
  public String prettyName() {
    return "lsql_decode_avro";
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : place == 1 ? schema : registry;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DecodeAvro that
        && child.equals(that.child)
        && schema.equals(that.schema)
        && registry.equals(that.registry);
  }

  @Override
  public int hashCode() {
    return Objects.hash(child, schema, registry);
  }
}
