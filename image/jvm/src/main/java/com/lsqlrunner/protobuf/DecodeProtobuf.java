package com.lsqlrunner.protobuf;

import com.lsqlrunner.avro.Registry;
import com.lsqlrunner.expression.Decoding;
import com.lsqlrunner.expression.Functions;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * Protobuf in the wire format of a registry to a struct. Fields go by their numbers, so a record's own schema is asked for
 * one thing only: which message it is.
 */
public final class DecodeProtobuf extends Decoding {
  private static final long serialVersionUID = 1L;

  private transient RecordReader reader;

  DecodeProtobuf(Expression child, StructType type, String message, String registry) {
    super(child, type, message, registry);
  }

  /**
   * Gives a session the function {@code name(bytes, type, message, registry)}. All but the bytes are literals: the fields
   * to read in the JSON of Spark's types, the message as {@link MessageSpec} reads it, and the name that {@link
   * Registry#register} was told.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new DecodeProtobuf(arguments.first(), arguments.type(1), arguments.text(2), arguments.text(3)));
  }

  @Override
  protected Object decoded(byte[] record) {
    if (reader == null) {
      Registry registry = Registry.named(parameter(1));
      reader = new RecordReader(MessageSpec.of(parameter(0)), (StructType) dataType(), registry::protobuf);
    }
    return reader.read(record);
  }

  @Override
  protected DecodeProtobuf of(Expression other) {
    return new DecodeProtobuf(other, (StructType) dataType(), parameter(0), parameter(1));
  }

  @Override
  public String prettyName() {
    return "lsql_decode_protobuf";
  }
}
