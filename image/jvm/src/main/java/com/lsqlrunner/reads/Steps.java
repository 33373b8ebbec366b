package com.lsqlrunner.reads;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.execution.CollectMetricsExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import scala.jdk.javaapi.CollectionConverters;

/** The projections of a Dataset, which is not run: they are applied to single rows. Its filters are left out. */
final class Steps {
    private final SparkPlan input;
    private final List<UnsafeProjection> projections = new ArrayList<>();

    /** The input columns that are read. */
    private final AttributeSet read;

    private Steps(SparkPlan plan) {
        SparkPlan below = plan;
        AttributeSet used = plan.outputSet();
        while (below instanceof ProjectExec || below instanceof FilterExec || below instanceof CollectMetricsExec) {
            if (below instanceof ProjectExec project) {
                projections.add(0, projection(project));
                used = project.references();
            }
            below = below.children().head();
        }
        input = below;
        read = used;
    }

    static Steps of(Dataset<Row> rows) {
        return new Steps(((org.apache.spark.sql.classic.Dataset<Row>) rows)
                .queryExecution()
                .sparkPlan());
    }

    private static UnsafeProjection projection(ProjectExec project) {
        List<Expression> columns = new ArrayList<>();
        CollectionConverters.asJava(project.projectList()).forEach(each -> columns.add((Expression) each));
        UnsafeProjection projection = UnsafeProjection.create(
                CollectionConverters.asScala(columns).toSeq(), project.child().output());
        projection.initialize(0);
        return projection;
    }

    /** What is below the projections. */
    SparkPlan input() {
        return input;
    }

    /** The projected row. It is valid until the next call. */
    InternalRow apply(InternalRow row) {
        InternalRow projected = row;
        for (UnsafeProjection each : projections) {
            projected = each.apply(projected);
        }
        return projected;
    }

    /**
     * The projected row of an input row.
     *
     * @param columns the value of a column by its name; it is called for those that are read
     */
    InternalRow apply(Function<String, Object> columns) {
        List<Object> values = new ArrayList<>();
        for (Attribute each : CollectionConverters.asJava(input.output())) {
            values.add(read.contains(each) ? columns.apply(each.name()) : null);
        }
        return apply(new GenericInternalRow(values.toArray()));
    }
}
