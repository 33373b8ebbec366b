package com.lsqlrunner.json;

import com.lsqlrunner.expression.DecodingFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Decodes the bytes of a JSON object to a struct, like {@code from_json} in the mode FAILFAST. {@link JsonObjectReader}
 * reads most records; Spark's parser reads all others.
 */
public final class DecodeJson extends DecodingFunction {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's types are serializable, but their class does not declare it.
    private final StructType type;

    private transient boolean isReady;
    private transient JsonObjectReader reader;
    /** Created for the first record that the reader does not read. */
    private transient SparkJsonParser parser;
    /** Reads numbers as text; null if none are kept as text. */
    private transient SparkJsonParser textParser;

    /** @param declared the type of the struct, in which fields may be not nullable */
    public DecodeJson(Expression child, StructType declared) {
        this(child, declared, declared.asNullable());
    }

    /**
     * Creates the function.
     *
     * @param declared the type of the records, in which fields may be not nullable
     * @param type that of the struct: with STRING in the place of DOUBLE for numbers whose text is kept
     */
    public DecodeJson(Expression child, StructType declared, StructType type) {
        super(child, declared, type.json());
        this.type = type;
    }

    @Override
    protected InternalRow decoded(byte[] record) {
        if (!isReady) {
            reader = JsonObjectReader.of(((StructType) declared()).asNullable(), type);
            isReady = true;
        }
        InternalRow row = reader == null ? null : reader.read(record);
        return row == null ? parsed(record) : row;
    }

    /** Spark's parser accepts every value as text. So it first reads numbers, to decide whether the record is valid. */
    private InternalRow parsed(byte[] record) {
        if (parser == null) {
            StructType values = ((StructType) declared()).asNullable();
            parser = new SparkJsonParser(values);
            textParser = values.equals(type) ? null : new SparkJsonParser(type);
        }
        InternalRow values = parser.parse(record);
        return textParser == null ? values : textParser.parse(record);
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    protected DecodeJson withChild(Expression other) {
        return new DecodeJson(other, (StructType) declared(), type);
    }

    @Override
    public boolean nullable() {
        return child().nullable();
    }
}
