package com.lsqlrunner.tick;

import com.lsqlrunner.expression.BinaryFunction;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * The time to which a record advances the event time of an input, from its partition (INT) and its event time (LONG):
 * see {@link EventTimes}. Null for a record that is too far in the future. All times are in milliseconds since 1970
 * UTC.
 */
public final class AdvancedTime extends BinaryFunction {
    private static final long serialVersionUID = 1L;

    private final EventTimes times;

    private AdvancedTime(Expression partition, Expression time, EventTimes times) {
        super(partition, time, times);
        this.times = times;
    }

    /** The function for an input of the active session. */
    public static AdvancedTime of(Expression partition, Expression time, String input) {
        return new AdvancedTime(partition, time, EventTimes.of(input));
    }

    @Override
    public Object call(Object partition, Object time) {
        return times.advancedTo((Integer) partition, (Long) time);
    }

    @Override
    public boolean nullable() {
        return true;
    }

    /** It stores the time: Spark must neither copy nor leave out the call. */
    @Override
    public boolean deterministic() {
        return false;
    }

    @Override
    public DataType dataType() {
        return DataTypes.LongType;
    }

    @Override
    protected AdvancedTime withChildren(List<Expression> children) {
        return new AdvancedTime(children.get(0), children.get(1), times);
    }

    @Override
    public String prettyName() {
        return "lsql_advanced_time";
    }
}
