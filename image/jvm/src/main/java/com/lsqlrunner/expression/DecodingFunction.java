package com.lsqlrunner.expression;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;

/** A record's bytes to a value. A null where the declared type allows none makes a record malformed. */
public abstract class DecodingFunction extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's types can be serialized, which is not written in their class.
    private final DataType declared;

    @SuppressWarnings("serial")
    private final DataType type;

    private transient RequiredFields required;
    private transient boolean isReady;

    /**
     * @param declared the type of the values, with fields that may not be null
     * @param parameters all else that two decodings differ by; shown in plans
     */
    protected DecodingFunction(Expression child, DataType declared, String... parameters) {
        super(child, parameters(declared, parameters));
        this.declared = declared;
        this.type = declared.asNullable();
    }

    /** The value in a record; {@link MalformedRecordException} if it holds none. */
    protected abstract Object decoded(byte[] record);

    private static Object[] parameters(DataType declared, String... parameters) {
        Object[] all = new Object[parameters.length + 1];
        all[0] = declared;
        System.arraycopy(parameters, 0, all, 1, parameters.length);
        return all;
    }

    @Override
    public final Object call(Object record) {
        Object value = decoded((byte[]) record);
        checkNulls(value);
        return value;
    }

    private void checkNulls(Object value) {
        if (!isReady) {
            required = RequiredFields.of(declared);
            isReady = true;
        }
        String missing = required == null || value == null ? null : required.missing((InternalRow) value);
        if (missing != null) {
            throw new MalformedRecordException(missing + " is null");
        }
    }

    /** The type as it was declared. */
    protected final DataType declared() {
        return declared;
    }

    /** A text that the constructor was given, by its place from 0. */
    protected final String option(int place) {
        return text(place + 1);
    }

    @Override
    public DataType dataType() {
        return type;
    }
}
