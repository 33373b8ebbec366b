package com.lsqlrunner.expression;

import com.lsqlrunner.errors.MalformedRecordException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;

/** Decodes the bytes of a record. If a field is null whose declared type is not nullable, the record is malformed. */
public abstract class DecodingFunction extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's types are serializable, but their class does not declare it.
    private final DataType declared;

    @SuppressWarnings("serial")
    private final DataType type;

    private transient RequiredFields required;
    private transient boolean isReady;

    /**
     * @param declared the type of the values, with fields that may be not nullable
     * @param parameters other values that distinguish functions; shown in plans
     */
    protected DecodingFunction(Expression child, DataType declared, String... parameters) {
        super(child, parameters(declared, parameters));
        this.declared = declared;
        this.type = declared.asNullable();
    }

    /** The value of a record; {@link MalformedRecordException} if the bytes are not valid. */
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
            throw new MalformedRecordException("it is null").inField(missing);
        }
    }

    /** The declared type, in which fields may be not nullable. */
    protected final DataType declared() {
        return declared;
    }

    /** A text parameter of the constructor, by its index from 0. */
    protected final String option(int index) {
        return stringParameter(index + 1);
    }

    @Override
    public DataType dataType() {
        return type;
    }
}
