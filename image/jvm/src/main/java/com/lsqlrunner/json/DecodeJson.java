package com.lsqlrunner.json;

import com.lsqlrunner.expression.DecodingFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes the bytes of a JSON object to a struct, like {@code from_json} in the mode FAILFAST. {@link JsonObjectReader}
 * reads most records; Spark's parser reads all others.
 */
public final class DecodeJson extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    private transient JsonObjectReader reader;
    private transient SparkJsonParser parser;

    /** @param declared the type of the struct, in which fields may be not nullable */
    public DecodeJson(Expression child, StructType declared) {
        super(child, declared);
    }

    @Override
    protected InternalRow decoded(byte[] record) {
        if (parser == null) {
            parser = new SparkJsonParser((StructType) dataType());
            reader = JsonObjectReader.of((StructType) dataType());
        }
        InternalRow row = reader == null ? null : reader.read(record);
        return row == null ? parser.parse(record) : row;
    }

    @Override
    protected DecodeJson withChild(Expression other) {
        return new DecodeJson(other, (StructType) declared());
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }
}
