package com.lsqlrunner.tick;

import java.util.OptionalLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.streaming.operators.stateful.WatermarkSupport;
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Replaces {@link LateWatermark} in the physical plan of a batch with the watermark of its operators.
 *
 * <p>Spark sets the watermark in the operators when it prepares the plan, and calls rules for columns after that. The
 * lowest operators have the watermark of the query; operators above them have an earlier one.
 */
public final class LateWatermarkRule extends Rule<SparkPlan> {
    /** The rule, in the form in which Spark takes it. */
    public static ColumnarRule asColumnarRule() {
        return new ColumnarRule() {
            @Override
            public Rule<SparkPlan> preColumnarTransitions() {
                return new LateWatermarkRule();
            }
        };
    }

    @Override
    public SparkPlan apply(SparkPlan plan) {
        if (!reads(plan)) {
            return plan; // nearly all programs: their plans are not copied
        }
        OptionalLong watermark = watermarks(plan).max();
        return watermark.isEmpty() ? plan : replaced(plan, new Literal(watermark.getAsLong(), DataTypes.LongType));
    }

    private static boolean reads(SparkPlan plan) {
        return plan.exists(node -> node.expressions().exists(each -> each.exists(LateWatermark.class::isInstance)));
    }

    private static LongStream watermarks(SparkPlan plan) {
        LongStream below =
                CollectionConverters.asJava(plan.children()).stream().flatMapToLong(LateWatermarkRule::watermarks);
        return LongStream.concat(
                Stream.ofNullable(watermark(plan).getOrElse(() -> null)).mapToLong(Long.class::cast), below);
    }

    private static Option<Object> watermark(SparkPlan operator) {
        if (operator instanceof StreamingSymmetricHashJoinExec join) {
            return join.eventTimeWatermarkForLateEvents();
        }
        return operator instanceof WatermarkSupport support
                ? support.eventTimeWatermarkForLateEvents()
                : Option.empty();
    }

    private static SparkPlan replaced(SparkPlan plan, Expression watermark) {
        return plan.mapChildren(child -> replaced(child, watermark))
                .mapExpressions(expression -> replaced(expression, watermark));
    }

    private static Expression replaced(Expression expression, Expression watermark) {
        return expression instanceof LateWatermark
                ? watermark
                : expression.mapChildren(child -> replaced(child, watermark));
    }
}
