package com.lsqlrunner.topic;

import java.io.Serializable;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The indexes of the columns with the fields of a record.
 *
 * @param partition -1 if the producer chooses the partitions
 * @param identity the first of the two columns of the record's identity; -1 without it
 * @param unchanged whether the record is only written if an earlier process has written another value; -1 without it
 * @param errorAction the first of the three columns of {@link FailedRecord}, which are null for valid records; -1
 *     without them
 */
public record RecordColumns(
        int topic, int key, int value, int ts, int headers, int partition, int identity, int unchanged, int errorAction)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    static final StructType HEADER =
            new StructType().add("key", DataTypes.StringType).add("value", DataTypes.BinaryType);

    public static final StructType SCHEMA = new StructType()
            .add("topic", DataTypes.StringType)
            .add("key", DataTypes.BinaryType)
            .add("value", DataTypes.BinaryType)
            .add("ts", DataTypes.LongType)
            .add("headers", DataTypes.createArrayType(HEADER));

    /**
     * The columns of rows with the fields of {@link #SCHEMA}, and optionally {@code partition} (INT), {@code id_high}
     * and {@code id_low} (LONG), {@code unchanged} (BOOLEAN), and {@code error_action}, {@code error_topic},
     * {@code error_code}.
     */
    public static RecordColumns of(StructType rows) {
        return new RecordColumns(
                rows.fieldIndex("topic"),
                rows.fieldIndex("key"),
                rows.fieldIndex("value"),
                rows.fieldIndex("ts"),
                rows.fieldIndex("headers"),
                index(rows, "partition"),
                index(rows, "id_high"),
                index(rows, "unchanged"),
                index(rows, "error_action"));
    }

    private static int index(StructType rows, String column) {
        return rows.getFieldIndex(column).isDefined() ? rows.fieldIndex(column) : -1;
    }
}
