package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class RecordColumnsTest {
    @Test
    void rowsOfRecordsAloneHaveNoOtherColumns() {
        assertEquals(new RecordColumns(0, 1, 2, 3, 4, -1, -1, -1, -1), RecordColumns.of(RecordColumns.SCHEMA));
    }

    @Test
    void otherColumnsAreFoundByTheirNames() {
        StructType rows = RecordColumns.SCHEMA
                .add("id_high", DataTypes.LongType)
                .add("id_low", DataTypes.LongType)
                .add("error_action", DataTypes.StringType)
                .add("error_topic", DataTypes.StringType)
                .add("error_code", DataTypes.StringType)
                .add("partition", DataTypes.IntegerType);
        assertEquals(new RecordColumns(0, 1, 2, 3, 4, 10, 5, -1, 7), RecordColumns.of(rows));
    }

    @Test
    void theOrderOfTheFieldsOfARecordDoesNotMatter() {
        StructType reversed = new StructType();
        for (int column = RecordColumns.SCHEMA.length() - 1; column >= 0; column--) {
            reversed = reversed.add(RecordColumns.SCHEMA.apply(column));
        }
        assertEquals(new RecordColumns(4, 3, 2, 1, 0, -1, -1, -1, -1), RecordColumns.of(reversed));
    }
}
