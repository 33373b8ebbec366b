package com.lsqlrunner.aggregate;

import com.lsqlrunner.expression.Arguments;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.RowOrdering;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;

/**
 * FIRST, LAST, COLLECT, MAXK, TOPK and similar functions: aggregates that keep values of a group. Nulls are ignored.
 * Over the changes of a table, values are also retracted.
 */
public final class KeepValues extends RetractingAggregate<KeptEntries> {
    private static final long serialVersionUID = 1L;

    private final KeepFunction function;
    private final int limit;

    /** The sort key of a record: longs that are never null; empty if the function ignores the order. */
    @SuppressWarnings("serial") // Spark's expressions are serializable, but their types do not declare it.
    private final List<Expression> sortKey;

    private transient GroupStates groups;
    private transient long[] scratch;

    private KeepValues(
            KeepFunction function,
            int limit,
            Expression value,
            List<Expression> sortKey,
            Expression sign,
            Offsets offsets) {
        super(value, sortKey, sign, offsets, function, limit);
        this.function = function;
        this.limit = limit;
        this.sortKey = sortKey;
    }

    /**
     * The aggregate {@code name(function, limit, value, sortKey...)}: the name of a {@link KeepFunction} and a limit,
     * both literals, then the value and the sort key of a record, which some functions ignore.
     */
    public static Expression of(Arguments arguments) {
        return of(arguments, arguments.all().size(), null);
    }

    /** The same with a sign as the last argument. */
    public static Expression retracting(Arguments arguments) {
        int last = arguments.all().size() - 1;
        return of(arguments, last, arguments.at(last));
    }

    private static Expression of(Arguments arguments, int end, Expression sign) {
        KeepFunction function = KeepFunction.valueOf(arguments.string(0));
        List<Expression> sortKey =
                function.usesOrder ? List.copyOf(arguments.all().subList(3, end)) : List.of();
        return new KeepValues(function, arguments.number(1), arguments.at(2), sortKey, sign, Offsets.NONE);
    }

    @Override
    KeepValues copy(Expression value, List<Expression> more, Expression sign, Offsets offsets) {
        return new KeepValues(function, limit, value, more, sign, offsets);
    }

    /** Created once on each executor, because it cannot be serialized. */
    private GroupStates groups() {
        if (groups == null) {
            DataType type = value().dataType();
            boolean ordered = RowOrdering.isOrderable(type);
            Comparator<Object> order = ordered ? TypeUtils.getInterpretedOrdering(type)::compare : null;
            groups = new GroupStates(function, limit, type, order, sortKey.size(), retracts());
            scratch = new long[sortKey.size()];
        }
        return groups;
    }

    @Override
    public KeptEntries createAggregationBuffer() {
        return groups().empty();
    }

    @Override
    public KeptEntries update(KeptEntries kept, InternalRow row) {
        Object value = value().eval(row);
        if (value != null) {
            GroupStates states = groups();
            for (int i = 0; i < scratch.length; i++) {
                scratch[i] = (Long) sortKey.get(i).eval(row);
            }
            states.add(kept, value, scratch, sign(row));
        }
        return kept;
    }

    @Override
    public KeptEntries merge(KeptEntries kept, KeptEntries other) {
        groups().merge(kept, other);
        return kept;
    }

    @Override
    public Object eval(KeptEntries kept) {
        return groups().result(kept);
    }

    @Override
    public byte[] serialize(KeptEntries kept) {
        return groups().write(kept);
    }

    @Override
    public KeptEntries deserialize(byte[] bytes) {
        return groups().read(bytes);
    }

    @Override
    public DataType dataType() {
        return function.isSingle ? value().dataType() : new ArrayType(value().dataType(), true);
    }

    @Override
    public boolean nullable() {
        return function.isSingle;
    }

    @Override
    public String prettyName() {
        return "lsql_" + function.name().toLowerCase(Locale.ROOT);
    }
}
