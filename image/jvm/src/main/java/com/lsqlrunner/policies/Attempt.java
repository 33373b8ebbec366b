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
 * The value of an expression, or why a record has none: {@code struct<value, error: struct<side, code, message>>}, one
 * of the two null. What {@link RecordErrorRules} does not list is thrown as it is.
 *
 * <p>A record that failed before fails here with the same error, and its value is not computed.
 *
 * <p>The value is computed by generated code of its own, made once for each task: what surrounds it would otherwise
 * compute it, or parts that it shares with others, outside of the attempt. For the same reason it is declared
 * non-deterministic: Spark neither moves nor copies such an expression.
 */
public final class Attempt extends LsqlExpression implements CodegenFallback {
    private static final long serialVersionUID = 1L;

    private transient UnsafeProjection projection;
    private transient RecordErrorRules rules;

    /**
     * The function.
     *
     * @param earlier the error of an earlier attempt, or a null of its type
     * @param rules what {@link RecordErrorRules#of} reads
     */
    public Attempt(Expression value, Expression earlier, String rules) {
        super(List.of(value, earlier), rules);
    }

    @Override
    public Object eval(InternalRow row) {
        if (rules == null) {
            rules = RecordErrorRules.of(text(0));
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
        return new Attempt(children.get(0), children.get(1), text(0));
    }

    @Override
    public String prettyName() {
        return "lsql_attempt";
    }
}
