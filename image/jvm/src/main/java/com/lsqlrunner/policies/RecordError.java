package com.lsqlrunner.policies;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Why a record has no value: the error of an {@link AttemptResult}.
 *
 * @param side {@code read} or {@code write}
 * @param code an error code of the processor
 * @param message for people, one line
 */
record RecordError(String side, String code, String message) {
    static final StructType TYPE = new StructType()
            .add("side", DataTypes.StringType)
            .add("code", DataTypes.StringType)
            .add("message", DataTypes.StringType);
}
