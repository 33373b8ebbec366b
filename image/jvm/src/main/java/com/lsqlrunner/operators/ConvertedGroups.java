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
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CreateNamedStruct;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** The groups of an aggregation of Spark as those of another one, which has other aggregates over equal groups. */
public final class ConvertedGroups {
    private final StructType stored;
    private final StructType converted;
    private final UnsafeProjection projection;

    /** The aggregates of a plan. Spark keeps equal ones once, so that several results may have the same one. */
    private static final class Aggregation {
        private final List<FunctionRunner> runners = new ArrayList<>();
        private final List<Integer> offsets = new ArrayList<>();
        private final List<StructField> columns = new ArrayList<>();

        /** By result: the numbers of its aggregates. */
        private final List<List<Integer>> results = new ArrayList<>();

        Aggregation(BaseAggregateExec last) {
            List<Attribute> rows = CollectionConverters.asJava(
                    ((BaseAggregateExec) last.child()).child().output());
            Map<ExprId, Integer> numbers = new HashMap<>();
            for (AggregateExpression each : CollectionConverters.asJava(last.aggregateExpressions())) {
                FunctionRunner runner = FunctionRunner.of(each.aggregateFunction(), rows);
                numbers.put(each.resultAttribute().exprId(), runners.size());
                runners.add(runner);
                offsets.add(columns.size());
                columns.addAll(List.of(runner.schema().fields()));
            }
            for (Expression result : packed(last)) {
                Set<Integer> used = new LinkedHashSet<>();
                result.foreach(part -> {
                    if (part instanceof AttributeReference reference && numbers.containsKey(reference.exprId())) {
                        used.add(numbers.get(reference.exprId()));
                    }
                    return null;
                });
                results.add(List.copyOf(used));
            }
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
    }

    /**
     * @param old the last step of the aggregation that wrote the groups
     * @param now the last step of the other aggregation
     * @param results by result of {@code now}: that of {@code old} whose values it continues; a negative number for a
     *     new one
     * @throws IllegalArgumentException two results that are to be the same are computed in different ways
     */
    public ConvertedGroups(BaseAggregateExec old, BaseAggregateExec now, int[] results) {
        Aggregation before = new Aggregation(old);
        Aggregation after = new Aggregation(now);
        Map<Integer, Integer> continued = new HashMap<>();
        for (int i = 0; i < results.length; i++) {
            if (results[i] < 0) {
                continue;
            }
            List<Integer> olds = before.results.get(results[i]);
            List<Integer> news = after.results.get(i);
            if (olds.size() != news.size()) {
                throw new IllegalArgumentException(olds.size() + " aggregates instead of " + news.size());
            }
            for (int j = 0; j < news.size(); j++) {
                continued.putIfAbsent(news.get(j), olds.get(j));
            }
        }
        List<Expression> columns = new ArrayList<>();
        for (int i = 0; i < after.runners.size(); i++) {
            Integer same = continued.get(i);
            columns.addAll(
                    same == null
                            ? empty(after.runners.get(i))
                            : continued(before, same, after.runners.get(i).schema()));
        }
        stored = new StructType(before.columns.toArray(new StructField[0]));
        converted = new StructType(after.columns.toArray(new StructField[0])).asNullable(); // as Spark saves it
        projection =
                UnsafeProjection.create(CollectionConverters.asScala(columns).toSeq());
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

    private static List<Expression> continued(Aggregation before, int number, StructType wanted) {
        StructType had = before.runners.get(number).schema();
        if (had.length() != wanted.length()) {
            throw new IllegalArgumentException(had + " instead of " + wanted);
        }
        List<Expression> columns = new ArrayList<>();
        for (int i = 0; i < wanted.length(); i++) {
            DataType type = had.apply(i).dataType();
            DataType other = wanted.apply(i).dataType();
            Expression value = new BoundReference(before.offsets.get(number) + i, type, true);
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
