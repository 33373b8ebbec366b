package com.lsqlrunner.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.lsqlrunner.expression.Functions;
import com.lsqlrunner.expression.Required;
import com.lsqlrunner.expression.UnaryFunction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.json.JSONOptions;
import org.apache.spark.sql.catalyst.json.JacksonParser;
import org.apache.spark.sql.catalyst.util.BadRecordException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.errors.QueryExecutionErrors;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function2;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

/**
 * Bytes of a JSON object to a struct: what {@code from_json} does in the mode FAILFAST, with Spark's own parser, but on
 * the bytes as they came. {@code from_json} hands Jackson a reader of characters, for which it has a slower tokenizer.
 */
public final class DecodeJson extends UnaryFunction {
  private static final long serialVersionUID = 1L;
  private static final Function2<JsonFactory, byte[], JsonParser> TOKENS = DecodeJson::tokens;

  private static final Seq<Filter> NO_FILTERS = seq(List.of());

  /** As it was declared: fields may be such that may not be null. */
  private final StructType declared;

  private final StructType schema;
  private transient JacksonParser parser;
  private transient Required required;

  DecodeJson(Expression child, StructType declared) {
    super(child);
    this.declared = declared;
    this.schema = declared.asNullable();
  }

  /** Gives a session the function {@code name(bytes, schema)}; the schema is a literal, in the JSON of Spark's types. */
  public static void register(SparkSession session, String name) {
    Functions.register(session, name, arguments -> new DecodeJson(arguments.first(), arguments.type(1)));
  }

  /** The struct in a record. A record without any JSON is as malformed as one with half of it. */
  public InternalRow decode(byte[] record) {
    if (parser == null) {
      Map<String, String> options = new Map.Map1<>("mode", "FAILFAST");
      parser = new JacksonParser(schema, new JSONOptions(options, "UTC", ""), false, NO_FILTERS);
      required = Required.of(declared);
    }
    try {
      Iterator<InternalRow> rows = parser.parse(record, TOKENS, UTF8String::fromBytes).iterator();
      if (rows.hasNext()) {
        InternalRow row = rows.next();
        String missing = required == null ? null : required.missing(row);
        if (missing != null) {
          throw malformed("", new IOException(missing + " is null"));
        }
        return row;
      }
      throw malformed("", new IOException("the record is empty"));
    } catch (Exception error) { // Scala does not declare what it throws
      if (error instanceof BadRecordException bad) {
        throw malformed(bad.record().apply().toString(), bad);
      }
      throw error;
    }
  }

  private static RuntimeException malformed(String record, Exception cause) {
    return DecodeJson.<RuntimeException>thrown(
        QueryExecutionErrors.malformedRecordsDetectedInRecordParsingError(record, cause));
  }

  /** Throws an exception that Java would want to be declared; Spark's own are such. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException thrown(Throwable error) throws E {
    throw (E) error;
  }

  private static JsonParser tokens(JsonFactory json, byte[] record) {
    try {
      return json.createParser(record);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  protected Object apply(Object value) {
    return decode((byte[]) value);
  }

  @Override
  protected DecodeJson of(Expression other) {
    return new DecodeJson(other, declared);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("decode", context, result);
  }

  @Override
  public DataType dataType() {
    return schema;
  }

  @Override
  public boolean nullable() {
    return child.nullable();
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : declared;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DecodeJson that && child.equals(that.child) && declared.equals(that.declared);
  }

  @Override
  public int hashCode() {
    return Objects.hash(child, declared);
  }
}
