package com.lsqlrunner.reads;

import com.lsqlrunner.operators.QueryableState;
import com.lsqlrunner.operators.StoredGroups;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.SerializeFromObjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec;
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec;
import org.apache.spark.sql.types.StructType;

/** The rows of an operator in its state, and the projections above it. */
interface StoredResults {
    /** Spark writes the version of its encoding before each key and each value. */
    byte ENCODING = 0;

    /** The variable of the operator; null if it has no variables. */
    String variable();

    /** The columns of the values, if the state has a schema of them; null for a variable, which has bytes. */
    StructType columns();

    /** The rows of an entry. A row is computed when it is asked for, and valid until the next one is. */
    List<Supplier<InternalRow>> rows(byte[] key, byte[] value);

    /** The results of projections above an operator: an aggregation of Spark, or an operator of ours. */
    static StoredResults of(Dataset<Row> rows) {
        Steps shown = Steps.of(rows);
        SparkPlan input = shown.input();
        if (input instanceof BaseAggregateExec last) {
            return new OfGroups(new StoredGroups(last), shown);
        }
        TransformWithStateExec operator = (TransformWithStateExec) ((SerializeFromObjectExec) input).child();
        return new OfVariable((QueryableState) (Object) operator.statefulProcessor(), shown);
    }

    /** Groups of an aggregation of Spark. */
    record OfGroups(StoredGroups groups, Steps shown) implements StoredResults {
        @Override
        public String variable() {
            return null;
        }

        @Override
        public StructType columns() {
            return groups.buffers();
        }

        @Override
        public List<Supplier<InternalRow>> rows(byte[] key, byte[] value) {
            return List.of(() -> shown.apply(groups.result(
                    unsafe(key, groups.groups()), unsafe(value, groups.buffers().length()))));
        }
    }

    /** Groups of an operator of ours. Their keys and values are one BINARY each. */
    record OfVariable(QueryableState operator, Steps shown) implements StoredResults {
        @Override
        public String variable() {
            return operator.variable();
        }

        @Override
        public StructType columns() {
            return null;
        }

        @Override
        public List<Supplier<InternalRow>> rows(byte[] key, byte[] value) {
            return operator.rows(unsafe(key, 1).getBinary(0), unsafe(value, 1).getBinary(0)).stream()
                    .<Supplier<InternalRow>>map(row -> () -> shown.apply(row))
                    .toList();
        }
    }

    private static UnsafeRow unsafe(byte[] stored, int columns) {
        UnsafeRow row = new UnsafeRow(columns);
        byte[] bytes = Arrays.copyOfRange(stored, 1, stored.length);
        row.pointTo(bytes, bytes.length);
        return row;
    }
}
