package com.lsqlrunner.policies;

import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Why a record has no value: the error of an {@link AttemptResult}.
 *
 * @param phase {@code read} or {@code write}
 * @param code an error code of the processor
 * @param message for people, one line
 */
record RecordError(String phase, String code, String message) {
    static final StructType TYPE = new StructType()
            .add("phase", DataTypes.StringType)
            .add("code", DataTypes.StringType)
            .add("message", DataTypes.StringType);
}
