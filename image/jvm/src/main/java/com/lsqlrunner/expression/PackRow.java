package com.lsqlrunner.expression;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Converts a struct to the bytes of Spark's row format, which are equal for equal values. State is stored as these
 * bytes, and keys are compared by them. {@link UnpackRow} is the inverse.
 */
public final class PackRow extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private transient UnsafeProjection projection;

    public PackRow(Expression child) {
        super(child);
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        return checkStruct();
    }

    /** The bytes of a struct. */
    @Override
    public byte[] call(Object struct) {
        if (struct instanceof UnsafeRow unsafe) {
            return unsafe.copy().getBytes();
        }
        if (projection == null) {
            projection = UnsafeProjection.create((StructType) child().dataType());
        }
        return projection.apply((InternalRow) struct).copy().getBytes();
    }

    @Override
    protected PackRow withChild(Expression other) {
        return new PackRow(other);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_pack_row";
    }
}
