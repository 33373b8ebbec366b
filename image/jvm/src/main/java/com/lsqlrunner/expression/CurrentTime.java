package com.lsqlrunner.expression;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.CurrentDate;
import org.apache.spark.sql.catalyst.expressions.CurrentTimestampLike;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.expressions.codegen.JavaCode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * The time at which a row is computed, as a TIMESTAMP. Spark replaces its own functions of the current time with one
 * time for the whole query. For a query that runs until it is stopped, this would be the time of its start.
 */
public final class CurrentTime extends LsqlExpression {
    private static final long serialVersionUID = 1L;

    public CurrentTime() {
        super(List.of());
    }

    /** The same rows, whose functions of the current time are computed for each row. */
    public static Dataset<Row> perRow(Dataset<Row> rows) {
        org.apache.spark.sql.classic.Dataset<Row> dataset = (org.apache.spark.sql.classic.Dataset<Row>) rows;
        LogicalPlan plan = dataset.queryExecution().analyzed().transformAllExpressions(new Replacement());
        return org.apache.spark.sql.classic.Dataset.ofRows(dataset.sparkSession(), plan);
    }

    private static final class Replacement extends AbstractPartialFunction<Expression, Expression> {
        @Override
        public boolean isDefinedAt(Expression expression) {
            return expression instanceof CurrentTimestampLike || expression instanceof CurrentDate;
        }

        @Override
        public Expression apply(Expression expression) {
            Expression now = new CurrentTime();
            return expression instanceof CurrentDate date
                    ? new Cast(now, DataTypes.DateType, date.timeZoneId(), EvalMode.ANSI())
                    : now;
        }
    }

    /** The time in microseconds since 1970 UTC. Generated code calls it. */
    public static long micros() {
        return TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
    }

    @Override
    public Object eval(InternalRow row) {
        return micros();
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode result) {
        String text = "boolean %s = false; long %s = %s.micros();"
                .formatted(result.isNull(), result.value(), CurrentTime.class.getName());
        Seq<String> parts = CollectionConverters.asScala(List.of(text)).toSeq();
        Seq<JavaCode> inputs = CollectionConverters.asScala(List.<JavaCode>of()).toSeq();
        return result.copy(new CodeBlock(parts, inputs), result.isNull(), result.value());
    }

    /** Otherwise, Spark would compute it once. */
    @Override
    public boolean deterministic() {
        return false;
    }

    @Override
    public boolean foldable() {
        return false;
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public DataType dataType() {
        return DataTypes.TimestampType;
    }

    @Override
    protected CurrentTime withChildren(List<Expression> children) {
        return this;
    }
}
