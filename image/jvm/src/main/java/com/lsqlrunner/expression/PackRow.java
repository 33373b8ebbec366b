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
 * A struct to Spark's own bytes of it, which are the same for the same values: what state is kept in, and what keys are
 * compared by. {@link UnpackRow} is the way back.
 */
public final class PackRow extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private transient UnsafeProjection packed;

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
        if (packed == null) {
            packed = UnsafeProjection.create((StructType) child().dataType());
        }
        return packed.apply((InternalRow) struct).copy().getBytes();
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
