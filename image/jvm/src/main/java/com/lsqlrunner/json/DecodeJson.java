package com.lsqlrunner.json;

import com.lsqlrunner.expression.DecodingFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes the bytes of a JSON object to a struct. {@link JsonObjectReader} reads most records; {@link JsonRecordReader}
 * reads all others, and decides which are malformed.
 */
public final class DecodeJson extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's types are serializable, but their class does not declare it.
    private final StructType type;

    /** Whether records are values of the only field, not objects. */
    private final boolean isBare;

    private transient JsonRecordReader reader;
    /** Reads most records; null if the type has values that it does not read. */
    private transient JsonObjectReader fastReader;

    /** @param declared the type of the struct, in which fields may be not nullable */
    public DecodeJson(Expression child, StructType declared) {
        this(child, declared, declared.asNullable(), false);
    }

    /**
     * Creates the function.
     *
     * @param declared the type of the records, in which fields may be not nullable
     * @param type of the struct: with STRING in place of DOUBLE or LONG for numbers whose text is kept, and DECIMAL in
     *     place of LONG for numbers that need not be whole
     * @param isBare whether a record is any JSON value, which becomes the only field of the struct
     */
    public DecodeJson(Expression child, StructType declared, StructType type, boolean isBare) {
        super(child, declared, type.json(), Boolean.toString(isBare));
        this.type = type;
        this.isBare = isBare;
    }

    @Override
    protected InternalRow decoded(byte[] record) {
        if (reader == null) {
            StructType values = ((StructType) declared()).asNullable();
            fastReader = JsonObjectReader.of(values, type);
            reader = new JsonRecordReader(values, type);
        }
        if (isBare) {
            InternalRow row = fastReader == null ? null : fastReader.readBare(record);
            return row == null ? reader.readBare(record) : row;
        }
        InternalRow row = fastReader == null ? null : fastReader.read(record);
        return row == null ? reader.read(record) : row;
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    protected DecodeJson withChild(Expression other) {
        return new DecodeJson(other, (StructType) declared(), type, isBare);
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }
}
