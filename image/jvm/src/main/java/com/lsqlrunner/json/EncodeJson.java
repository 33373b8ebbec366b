package com.lsqlrunner.json;

import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Encodes a struct as the bytes of a JSON object with all null fields, like {@code to_json}. That function uses an
 * expression that loads all of Scala's reflection, which takes a third of a second in the first batch, and it returns
 * characters. {@link JsonObjectWriter} writes most structs; Spark's generator writes all others.
 */
public final class EncodeJson extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private transient JsonObjectWriter writer;
    private transient SparkJsonGenerator generator;
    private transient boolean isReady;

    public EncodeJson(Expression child) {
        super(child);
    }

    @Override
    public TypeCheckResult checkInputDataTypes() {
        return checkStruct();
    }

    /** The JSON object of a struct, in UTF-8. */
    @Override
    public byte[] call(Object struct) {
        if (!isReady) {
            writer = JsonObjectWriter.of((StructType) child().dataType());
            isReady = true;
        }
        InternalRow row = (InternalRow) struct;
        byte[] object = writer == null ? null : writer.write(row);
        return object == null ? generated(row) : object;
    }

    private byte[] generated(InternalRow row) {
        if (generator == null) {
            generator = new SparkJsonGenerator((StructType) child().dataType());
        }
        return generator.write(row);
    }

    @Override
    protected EncodeJson withChild(Expression other) {
        return new EncodeJson(other);
    }

    @Override
    public DataType dataType() {
        return DataTypes.BinaryType;
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }

    @Override
    public String prettyName() {
        return "lsql_encode_json";
    }
}
