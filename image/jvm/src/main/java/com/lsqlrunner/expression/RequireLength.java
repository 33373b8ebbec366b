package com.lsqlrunner.expression;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Returns the bytes unchanged if they have the length of their format; else the record is malformed. */
public final class RequireLength extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final int length;
    private final boolean orMore;

    /**
     * Creates the function.
     *
     * @param length in bytes
     * @param orMore whether more bytes are allowed
     */
    public RequireLength(Expression child, int length, boolean orMore) {
        super(child, length, orMore);
        this.length = length;
        this.orMore = orMore;
    }

    @Override
    public byte[] call(Object value) {
        byte[] bytes = (byte[]) value;
        if (orMore ? bytes.length < length : bytes.length != length) {
            throw new MalformedRecordException(
                    "expected %d bytes%s, found %d".formatted(length, orMore ? " or more" : "", bytes.length));
        }
        return bytes;
    }

    @Override
    protected RequireLength withChild(Expression other) {
        return new RequireLength(other, length, orMore);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public String prettyName() {
        return "lsql_require_length";
    }
}
