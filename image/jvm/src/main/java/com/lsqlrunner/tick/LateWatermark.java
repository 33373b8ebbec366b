package com.lsqlrunner.tick;

import com.lsqlrunner.expression.LsqlExpression;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * The watermark (LONG, milliseconds since 1970 UTC) of the stateful operators in the current batch: they drop a row as
 * late if its time is not after the watermark. {@link LateWatermarkRule} replaces this expression with the number when
 * Spark plans a batch of a stream.
 */
public final class LateWatermark extends LsqlExpression {
    private static final long serialVersionUID = 1L;

    private static final long NONE = Long.MIN_VALUE;

    public LateWatermark() {
        super(List.of());
    }

    @Override
    public Object eval(InternalRow row) {
        return NONE;
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode result) {
        return new Literal(NONE, DataTypes.LongType).genCode(context);
    }

    @Override
    public boolean foldable() {
        return false; // Spark would replace it by its value outside of batches
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public DataType dataType() {
        return DataTypes.LongType;
    }

    @Override
    public String prettyName() {
        return "lsql_late_watermark";
    }

    @Override
    protected LateWatermark withChildren(List<Expression> children) {
        return this;
    }
}
