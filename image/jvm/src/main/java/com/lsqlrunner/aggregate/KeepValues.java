package com.lsqlrunner.aggregate;

import com.lsqlrunner.expression.Functions;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * FIRST, LAST, COLLECT, MAXK, TOPK and their kin: aggregates that keep values of a group. Nulls are left out. Over the
 * changes of a table, values are also taken out again.
 */
public final class KeepValues extends TypedImperativeAggregate<Kept> implements Serializable {
  private static final long serialVersionUID = 1L;
  private final Kind kind;
  private final int limit;

  @SuppressWarnings("serial") // Spark's expressions can be serialized, which is not written in their types.
  private final Expression value;

  /** What the records are ordered by, longs that are never null; empty where the order does not count. */
  @SuppressWarnings("serial")
  private final Expression[] place;

  /** Last of all children, where there is one: an int, 1 for a value that comes, -1 for one that goes. */
  @SuppressWarnings("serial")
  private final Expression sign;

  private final int mutableOffset;
  private final int inputOffset;

  private transient Groups groups;
  private transient long[] scratch;

  private KeepValues(
      Kind kind, int limit, Expression value, Expression[] place, Expression sign, int mutableOffset, int inputOffset) {
    this.kind = kind;
    this.limit = limit;
    this.value = value;
    this.place = place;
    this.sign = sign;
    this.mutableOffset = mutableOffset;
    this.inputOffset = inputOffset;
  }

  /**
   * Gives a session the aggregate {@code name(kind, limit, value, place...)}: the name of a Kind and a limit, both
   * literals, and what the records are ordered by, which only kinds that go by it look at. And {@code
   * retracting(kind, limit, value, place..., sign)}.
   */
  public static void register(SparkSession session, String name, String retracting) {
    Functions.register(session, name, arguments -> of(arguments.all(), null));
    Functions.register(
        session,
        retracting,
        arguments -> {
          List<Expression> all = arguments.all();
          return of(all.subList(0, all.size() - 1), all.get(all.size() - 1));
        });
  }

  private static Expression of(List<Expression> arguments, Expression sign) {
    Kind kind = Kind.valueOf(((Literal) arguments.get(0)).value().toString());
    int limit = (Integer) ((Literal) arguments.get(1)).value();
    List<Expression> place = kind.byPlace ? arguments.subList(3, arguments.size()) : List.of();
    return new KeepValues(kind, limit, arguments.get(2), place.toArray(new Expression[0]), sign, 0, 0);
  }

  // --- the group ---

  /** Once on each executor: it cannot be serialized, and is made from what can. */
  private Groups groups() {
    if (groups == null) {
      DataType type = value.dataType();
      boolean ordered = RowOrdering.isOrderable(type);
      Comparator<Object> order = ordered ? TypeUtils.getInterpretedOrdering(type)::compare : null;
      groups = new Groups(kind, limit, type, order, place.length, sign != null);
      scratch = new long[place.length];
    }
    return groups;
  }

  @Override
  public Kept createAggregationBuffer() {
    return groups().start();
  }

  @Override
  public Kept update(Kept kept, InternalRow row) {
    Object found = value.eval(row);
    if (found != null) {
      for (int i = 0; i < place.length; i++) {
        scratch[i] = (Long) place[i].eval(row);
      }
      groups().add(kept, found, scratch, sign == null ? 1 : (Integer) sign.eval(row));
    }
    return kept;
  }

  @Override
  public Kept merge(Kept kept, Kept other) {
    groups().merge(kept, other);
    return kept;
  }

  @Override
  public Object eval(Kept kept) {
    return groups().result(kept);
  }

  @Override
  public byte[] serialize(Kept kept) {
    return groups().write(kept);
  }

  @Override
  public Kept deserialize(byte[] bytes) {
    return groups().read(bytes);
  }

  // --- the expression ---

  @Override
  public DataType dataType() {
    return kind.single ? value.dataType() : new ArrayType(value.dataType(), true);
  }

  @Override
  public boolean nullable() {
    return kind.single;
  }

  @Override
  public String prettyName() {
    return "lsql_" + kind.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Seq<Expression> children() {
    List<Expression> all = new ArrayList<>(place.length + 2);
    all.add(value);
    all.addAll(Arrays.asList(place));
    if (sign != null) {
      all.add(sign);
    }
    return CollectionConverters.asScala(all).toSeq();
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    List<Expression> all = CollectionConverters.asJava(children);
    Expression[] places = all.subList(1, 1 + place.length).toArray(new Expression[0]);
    Expression last = sign == null ? null : all.get(1 + place.length);
    return new KeepValues(kind, limit, all.get(0), places, last, mutableOffset, inputOffset);
  }

  @Override
  public int mutableAggBufferOffset() {
    return mutableOffset;
  }

  @Override
  public KeepValues withNewMutableAggBufferOffset(int offset) {
    return new KeepValues(kind, limit, value, place, sign, offset, inputOffset);
  }

  @Override
  public int inputAggBufferOffset() {
    return inputOffset;
  }

  @Override
  public KeepValues withNewInputAggBufferOffset(int offset) {
    return new KeepValues(kind, limit, value, place, sign, mutableOffset, offset);
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof KeepValues;
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int at) {
    return at == 0 ? kind : at == 1 ? (Object) limit : value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeepValues that
        && kind == that.kind
        && limit == that.limit
        && value.equals(that.value)
        && Arrays.equals(place, that.place)
        && Objects.equals(sign, that.sign)
        && mutableOffset == that.mutableOffset
        && inputOffset == that.inputOffset;
  }

  @Override
  public int hashCode() {
    return Objects.hash(kind, limit, value, Arrays.hashCode(place), sign);
  }
}
