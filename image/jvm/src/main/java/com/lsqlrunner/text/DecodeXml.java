package com.lsqlrunner.text;

import com.lsqlrunner.expression.Decoding;
import com.lsqlrunner.expression.Functions;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * An XML document to a struct. {@code from_xml} is silent about what stands behind the root, and of an element that is
 * repeated where one is expected takes the last.
 */
public final class DecodeXml extends Decoding {
  private static final long serialVersionUID = 1L;

  private transient XmlRecords records;

  DecodeXml(Expression child, StructType type, String rowTag) {
    super(child, type, rowTag);
  }

  /**
   * Gives a session the function {@code name(bytes, type, options)}; the type in the JSON of Spark's, and an object of
   * options, are literals.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new DecodeXml(arguments.first(), arguments.type(1), Options.map(arguments.text(2)).get("row_tag")));
  }

  @Override
  protected Object decoded(byte[] record) {
    if (records == null) {
      records = new XmlRecords((StructType) dataType(), parameter(0));
    }
    return records.decode(record);
  }

  @Override
  protected DecodeXml of(Expression other) {
    return new DecodeXml(other, (StructType) declared(), parameter(0));
  }

  @Override
  public String prettyName() {
    return "lsql_decode_xml";
  }
}
