package com.lsqlrunner.operators;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Changes of the rows of a table: {@code id} (BINARY, identifies the row), {@code ts} (LONG, milliseconds),
 * {@code partition} and {@code offset}, which order the changes of an id, {@code before} and {@code after} (BINARY,
 * packed; null if there is no row).
 */
final class Changes {
    static final StructType SCHEMA = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("ts", DataTypes.LongType)
            .add("partition", DataTypes.IntegerType)
            .add("offset", DataTypes.LongType)
            .add("before", DataTypes.BinaryType)
            .add("after", DataTypes.BinaryType);

    static final int BEFORE = 4;
    static final int AFTER = 5;

    private Changes() {}

    /** A change with the timestamp and position of a record. */
    static Row of(byte[] id, Row record, byte[] before, byte[] after) {
        return RowFactory.create(
                id,
                record.getLong(ArrivalOrder.TS),
                record.getInt(ArrivalOrder.PARTITION),
                record.getLong(ArrivalOrder.OFFSET),
                before,
                after);
    }
}
