package com.lsqlrunner.policies;

import com.lsqlrunner.expression.UnaryFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Limits the size of a record, {@code struct<key, value, headers>}, to the limit of its topic. A larger record is an
 * error. A dead letter is shortened instead: it loses its value, then its key and the headers of its source record. A
 * header names what was omitted.
 */
public final class LimitRecordSize extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    /** The header that names the omitted parts of a dead letter: {@code value}, or {@code key,value,headers}. */
    public static final String OMITTED = "lsql.error.omitted";

    private static final String ERROR_HEADER_PREFIX = "lsql.error.";

    private final String limits;
    private final boolean shortens;
    private transient SizeLimits parsed;

    /**
     * Creates the function.
     *
     * @param limits the JSON that {@link SizeLimits#of} parses
     * @param shortens whether a record that is too large is shortened instead of being an error
     */
    public LimitRecordSize(Expression child, String limits, boolean shortens) {
        super(child, limits, shortens);
        this.limits = limits;
        this.shortens = shortens;
    }

    @Override
    public InternalRow call(Object value) {
        InternalRow record = (InternalRow) value;
        if (parsed == null) {
            parsed = SizeLimits.of(limits);
        }
        int bytes = parsed.sizeIfTooLarge(record);
        if (bytes == 0) {
            return record;
        }
        if (!shortens) {
            throw parsed.tooLarge(bytes);
        }
        Object key = record.isNullAt(SizeLimits.KEY) ? null : record.getBinary(SizeLimits.KEY);
        InternalRow withoutValue = row(key, headers(record, false, "value"));
        return parsed.sizeIfTooLarge(withoutValue) == 0
                ? withoutValue
                : row(null, headers(record, true, "key,value,headers"));
    }

    private static InternalRow row(Object key, ArrayData headers) {
        return new GenericInternalRow(new Object[] {key, null, headers});
    }

    private static ArrayData headers(InternalRow record, boolean onlyErrorHeaders, String omitted) {
        ArrayData given = record.getArray(SizeLimits.HEADERS);
        Object[] kept = new Object[given.numElements() + 1];
        int count = 0;
        for (int i = 0; i < given.numElements(); i++) {
            InternalRow header = given.getStruct(i, 2);
            if (!onlyErrorHeaders || header.getUTF8String(0).toString().startsWith(ERROR_HEADER_PREFIX)) {
                kept[count++] = header;
            }
        }
        byte[] names = omitted.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        kept[count++] = new GenericInternalRow(new Object[] {UTF8String.fromString(OMITTED), names});
        return new GenericArrayData(java.util.Arrays.copyOf(kept, count));
    }

    @Override
    protected LimitRecordSize withChild(Expression other) {
        return new LimitRecordSize(other, limits, shortens);
    }

    @Override
    public DataType dataType() {
        return SizeLimits.RECORD;
    }

    @Override
    public String prettyName() {
        return "lsql_limit_record_size";
    }
}
