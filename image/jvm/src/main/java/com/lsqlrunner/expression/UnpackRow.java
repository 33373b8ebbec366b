package com.lsqlrunner.expression;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Converts the bytes of {@link PackRow} back to the struct, without copying or parsing. */
public final class UnpackRow extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final StructType schema;

    /** @param schema the type of the struct */
    public UnpackRow(Expression child, StructType schema) {
        super(child, schema);
        this.schema = schema;
    }

    /** The struct in the bytes. */
    @Override
    public InternalRow call(Object value) {
        byte[] bytes = (byte[]) value;
        UnsafeRow row = new UnsafeRow(schema.length());
        row.pointTo(bytes, bytes.length);
        return row;
    }

    @Override
    protected UnpackRow withChild(Expression other) {
        return new UnpackRow(other, schema);
    }

    @Override
    public DataType dataType() {
        return schema;
    }

    @Override
    public String prettyName() {
        return "lsql_unpack_row";
    }
}
