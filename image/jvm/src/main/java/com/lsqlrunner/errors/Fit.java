package com.lsqlrunner.errors;

import com.lsqlrunner.expression.Functions;
import com.lsqlrunner.expression.UnaryFunction;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A record, {@code struct<key, value, headers>}, as its topic takes it. One that is too large is an error; or, where it
 * must arrive, it goes without its value, then without key and headers of its own, and a header names what is left out.
 */
public final class Fit extends UnaryFunction {
  private static final long serialVersionUID = 1L;

  /** The header that names what a dead letter lacks: {@code value}, or {@code key,value,headers}. */
  public static final String OMITTED = "lsql.error.omitted";

  private static final String OURS = "lsql.error.";

  private final String room;
  private final boolean shortens;
  private transient Room parsed;

  Fit(Expression child, String room, boolean shortens) {
    super(child);
    this.room = room;
    this.shortens = shortens;
  }

  /** Gives a session the function {@code name(record, room, shortens)}, the last two literals; see {@link Room#of}. */
  public static void register(SparkSession session, String name) {
    Functions.register(
        session, name, arguments -> new Fit(arguments.first(), arguments.text(1), (Boolean) arguments.value(2)));
  }

  /** The record that can be written. */
  public InternalRow fit(InternalRow record) {
    if (parsed == null) {
      parsed = Room.of(room);
    }
    int bytes = parsed.excess(record);
    if (bytes == 0) {
      return record;
    }
    if (!shortens) {
      throw new TooLarge(bytes, parsed.batchBytes());
    }
    Object key = record.isNullAt(Room.KEY) ? null : record.getBinary(Room.KEY);
    InternalRow bare = row(key, headers(record, false, "value"));
    return parsed.excess(bare) == 0 ? bare : row(null, headers(record, true, "key,value,headers"));
  }

  private static InternalRow row(Object key, ArrayData headers) {
    return new GenericInternalRow(new Object[] {key, null, headers});
  }

  private static ArrayData headers(InternalRow record, boolean onlyOurs, String omitted) {
    ArrayData given = record.getArray(Room.HEADERS);
    Object[] kept = new Object[given.numElements() + 1];
    int count = 0;
    for (int i = 0; i < given.numElements(); i++) {
      InternalRow header = given.getStruct(i, 2);
      if (!onlyOurs || header.getUTF8String(0).toString().startsWith(OURS)) {
        kept[count++] = header;
      }
    }
    byte[] names = omitted.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    kept[count++] = new GenericInternalRow(new Object[] {UTF8String.fromString(OMITTED), names});
    return new GenericArrayData(java.util.Arrays.copyOf(kept, count));
  }

  @Override
  protected Object apply(Object value) {
    return fit((InternalRow) value);
  }

  @Override
  protected Fit of(Expression other) {
    return new Fit(other, room, shortens);
  }

  @Override
  public ExprCode doGenCode(CodegenContext context, ExprCode result) {
    return call("fit", context, result);
  }

  @Override
  public DataType dataType() {
    return Room.RECORD;
  }

  @Override
  public String prettyName() {
    return "lsql_fit";
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int place) {
    return place == 0 ? child : place == 1 ? room : (Object) shortens;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Fit that && child.equals(that.child) && room.equals(that.room) && shortens == that.shortens;
  }

  @Override
  public int hashCode() {
    return Objects.hash(child, room, shortens);
  }
}
