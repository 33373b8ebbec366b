package com.lsqlrunner.policies;

import com.lsqlrunner.expression.LsqlExpression;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Evaluates an expression and returns its value or the error of the record: {@code struct<value, error: struct<phase,
 * code, message>>}. One of the two is null. An exception that {@link RecordErrorRules} does not list is thrown
 * unchanged.
 *
 * <p>A record that already failed keeps its error, and its value is not computed.
 *
 * <p>The value is computed by separately generated code, which is created once for each task. Otherwise the surrounding
 * code would compute the value, or subexpressions that it shares with others, outside of the attempt. For the same
 * reason the expression is declared non-deterministic: Spark neither moves nor copies it.
 */
public final class Attempt extends LsqlExpression implements CodegenFallback {
    private static final long serialVersionUID = 1L;

    private transient UnsafeProjection projection;
    private transient RecordErrorRules rules;

    /**
     * Creates the function.
     *
     * @param earlier the error of an earlier attempt, or a null of its type
     * @param rules the JSON that {@link RecordErrorRules#of} parses
     */
    public Attempt(Expression value, Expression earlier, String rules) {
        super(List.of(value, earlier), rules);
    }

    @Override
    public Object eval(InternalRow row) {
        if (rules == null) {
            rules = RecordErrorRules.of(stringParameter(0));
        }
        return AttemptResult.of(child(1).eval(row), () -> computed(row), rules);
    }

    private Object computed(InternalRow row) {
        if (projection == null) {
            projection = UnsafeProjection.create(child(0));
            projection.initialize(TaskContext.getPartitionId());
        }
        InternalRow computed = projection.apply(row);
        return computed.isNullAt(0) ? null : computed.get(0, child(0).dataType());
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode result) {
        return CodegenFallback.super.doGenCode(context, result);
    }

    @Override
    public boolean deterministic() {
        return false;
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public DataType dataType() {
        return new StructType().add("value", child(0).dataType(), true).add("error", RecordError.TYPE, true);
    }

    @Override
    protected Expression withChildren(List<Expression> children) {
        return new Attempt(children.get(0), children.get(1), stringParameter(0));
    }

    @Override
    public String prettyName() {
        return "lsql_attempt";
    }
}
