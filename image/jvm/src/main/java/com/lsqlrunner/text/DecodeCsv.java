package com.lsqlrunner.text;

import com.lsqlrunner.expression.Decoding;
import com.lsqlrunner.expression.Functions;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;

/**
 * A line of CSV to a struct. {@code from_csv} knows RFC 4180 in part only: it takes quotes in the midst of a value for text,
 * and a quoted text of nothing for null.
 */
public final class DecodeCsv extends Decoding {
  private static final long serialVersionUID = 1L;

  private transient CsvRecords records;

  DecodeCsv(Expression child, StructType type, String names, String options) {
    super(child, type, names, options);
  }

  /**
   * Gives a session the function {@code name(bytes, type, names, options)}. All but the bytes are literals: the columns
   * to read in the JSON of Spark's types, the names of all columns as a JSON array, and an object of options.
   */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new DecodeCsv(arguments.first(), arguments.type(1), arguments.text(2), arguments.text(3)));
  }

  @Override
  protected Object decoded(byte[] record) {
    if (records == null) {
      List<String> names = Options.list(parameter(0));
      Map<String, String> options = Options.map(parameter(1));
      records =
          new CsvRecords(
              (StructType) dataType(), names, options.get("delimiter"), options.get("quote"), options.get("null"));
    }
    return records.decode(record);
  }

  @Override
  protected DecodeCsv of(Expression other) {
    return new DecodeCsv(other, (StructType) declared(), parameter(0), parameter(1));
  }

  @Override
  public String prettyName() {
    return "lsql_decode_csv";
  }
}
