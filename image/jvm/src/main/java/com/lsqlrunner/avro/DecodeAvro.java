package com.lsqlrunner.avro;

import com.lsqlrunner.expression.Decoding;
import com.lsqlrunner.expression.Functions;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;

/**
 * Avro in the wire format of a registry to a value. Each record is read with the schema that it was written with, and
 * made what one schema says: {@code from_avro} knows one writer.
 */
public final class DecodeAvro extends Decoding {
  private static final long serialVersionUID = 1L;

  private transient RecordDecoder decoder;
  private transient AvroBytes bytes;

  DecodeAvro(Expression child, String schema, String registry, DataType type) {
    super(child, type, schema, registry);
  }

  /**
   * Gives a session the function {@code name(bytes, schema, registry)}; the reader's schema and the name that {@link
   * Registry#register} was told are literals. It fails on a schema that Spark has no type for.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new DecodeAvro(arguments.first(), arguments.text(1), arguments.text(2), typeOf(arguments.text(1))));
  }

  /** The type of what is decoded: Spark's, in its JSON. */
  public static String typeJson(String schema) {
    return typeOf(schema).json();
  }

  private static DataType typeOf(String schema) {
    return CatalystTypes.of(CatalystTypes.parsed(schema));
  }

  @Override
  protected Object decoded(byte[] record) {
    if (decoder == null) {
      decoder = Registry.named(parameter(1)).decoder(parameter(0));
      bytes = new AvroBytes();
    }
    return decoder.decode(record, bytes);
  }

  @Override
  protected DecodeAvro of(Expression other) {
    return new DecodeAvro(other, parameter(0), parameter(1), dataType());
  }

  @Override
  public String prettyName() {
    return "lsql_decode_avro";
  }
}
