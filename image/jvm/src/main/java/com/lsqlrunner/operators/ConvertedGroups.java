package com.lsqlrunner.operators;

import com.lsqlrunner.expression.PackRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** The groups of an aggregation of Spark as those of another one, which has other aggregates over equal groups. */
public final class ConvertedGroups {
    private final StructType stored;
    private final StructType converted;
    private final UnsafeProjection projection;

    /**
     * @param old the last step of the aggregation that wrote the groups
     * @param now the last step of the other aggregation
     * @param results by result of {@code now}: that of {@code old} whose values it continues; a negative number for a
     *     new one
     * @throws IllegalArgumentException two results that are to be the same are computed in different ways
     */
    public ConvertedGroups(BaseAggregateExec old, BaseAggregateExec now, List<Integer> results) {
        List<BufferedAggregate> before = BufferedAggregate.of(old);
        List<BufferedAggregate> after = BufferedAggregate.of(now);
        List<List<BufferedAggregate>> olds = byResult(old, before);
        List<List<BufferedAggregate>> news = byResult(now, after);
        Map<BufferedAggregate, BufferedAggregate> continued = new HashMap<>();
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) < 0) {
                continue;
            }
            List<BufferedAggregate> same = olds.get(results.get(i));
            List<BufferedAggregate> wanted = news.get(i);
            if (same.size() != wanted.size()) {
                throw new IllegalArgumentException(same.size() + " aggregates instead of " + wanted.size());
            }
            for (int j = 0; j < wanted.size(); j++) {
                continued.putIfAbsent(wanted.get(j), same.get(j));
            }
        }
        List<Expression> columns = new ArrayList<>();
        for (BufferedAggregate each : after) {
            BufferedAggregate same = continued.get(each);
            columns.addAll(
                    same == null
                            ? empty(each.runner())
                            : continued(same, each.runner().schema()));
        }
        stored = BufferedAggregate.buffers(before);
        converted = BufferedAggregate.buffers(after).asNullable(); // as Spark saves it
        projection =
                UnsafeProjection.create(CollectionConverters.asScala(columns).toSeq());
    }

    /** By result: its aggregates, in the order in which it uses them. Several results may have the same one. */
    private static List<List<BufferedAggregate>> byResult(BaseAggregateExec last, List<BufferedAggregate> aggregates) {
        List<List<BufferedAggregate>> all = new ArrayList<>();
        for (Expression result : packed(last)) {
            Set<BufferedAggregate> used = new LinkedHashSet<>();
            result.foreach(part -> {
                if (part instanceof AttributeReference column) {
                    aggregates.stream()
                            .filter(each -> each.result().exprId().equals(column.exprId()))
                            .forEach(used::add);
                }
                return null;
            });
            all.add(List.copyOf(used));
        }
        return all;
    }

    /** The results, which the aggregation packs into one column. */
    private static List<Expression> packed(BaseAggregateExec last) {
        for (Object column : CollectionConverters.asJava(last.resultExpressions())) {
            if (column instanceof Alias alias
                    && alias.child() instanceof PackRow packed
                    && packed.children().head() instanceof CreateNamedStruct results) {
                return CollectionConverters.asJava(results.valExprs());
            }
        }
        throw new NoSuchElementException("packed results in " + last.resultExpressions());
    }

    private static List<Expression> empty(FunctionRunner runner) {
        List<Object> values = new ArrayList<>();
        runner.collect(runner.empty(), values);
        List<Expression> columns = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            columns.add(new Literal(values.get(i), runner.schema().apply(i).dataType()));
        }
        return columns;
    }

    private static List<Expression> continued(BufferedAggregate before, StructType wanted) {
        StructType had = before.runner().schema();
        if (had.length() != wanted.length()) {
            throw new IllegalArgumentException(had + " instead of " + wanted);
        }
        List<Expression> columns = new ArrayList<>();
        for (int i = 0; i < wanted.length(); i++) {
            DataType type = had.apply(i).dataType();
            DataType other = wanted.apply(i).dataType();
            Expression value = new BoundReference(before.offset() + i, type, true);
            if (!type.equals(other) && !Cast.canUpCast(type, other)) {
                throw new IllegalArgumentException(type + " instead of " + other);
            }
            columns.add(type.equals(other) ? value : new Cast(value, other, Option.empty()));
        }
        return columns;
    }

    /** The columns of the buffers that are converted. */
    public StructType stored() {
        return stored;
    }

    /** The columns of the converted buffers. */
    public StructType converted() {
        return converted;
    }

    /** The converted buffers of a group. The row is valid until the next call. */
    public UnsafeRow convert(UnsafeRow buffers) {
        return projection.apply(buffers);
    }
}
