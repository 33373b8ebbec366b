package com.lsqlrunner.policies;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.expression.UnaryFunction;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * The timestamp of an output record, if its topic accepts it; else an error, or for a dead letter the time of the
 * clock. A record without a timestamp, -1, is accepted. All times are LONGs in milliseconds since 1970 UTC.
 *
 * <p>The broker uses its own clock. If it differs from ours, the broker may refuse a record near the limit that is
 * accepted here. The query is then tried again until both clocks give the same result.
 */
public final class AcceptedTime extends UnaryFunction {
    private static final long serialVersionUID = 1L;

    private final long before;
    private final long after;
    private final boolean replaces;

    private transient TimeLimits limits;

    /**
     * Creates the function.
     *
     * @param before how far a timestamp may be behind the clock, in milliseconds
     * @param after how far it may be ahead of the clock
     * @param replaces whether the time of the clock replaces a timestamp that is not accepted
     */
    public AcceptedTime(Expression child, long before, long after, boolean replaces) {
        super(child, before, after, replaces);
        this.before = before;
        this.after = after;
        this.replaces = replaces;
    }

    @Override
    public Object call(Object value) {
        if (limits == null) {
            limits = new TimeLimits(before, after);
        }
        String refusal = limits.refusal((Long) value);
        if (refusal == null) {
            return value;
        }
        if (replaces) {
            return System.currentTimeMillis();
        }
        throw new LsqlException(Condition.LSQL_TIMESTAMP_REFUSED, Map.of("reason", refusal));
    }

    @Override
    protected AcceptedTime withChild(Expression other) {
        return new AcceptedTime(other, before, after, replaces);
    }

    @Override
    public DataType dataType() {
        return DataTypes.LongType;
    }

    @Override
    public String prettyName() {
        return "lsql_accepted_time";
    }
}
