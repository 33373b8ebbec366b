package com.lsqlrunner.avro;

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Writes the value at a place of a row or an array. Threads may share it. */
@FunctionalInterface
interface ValueWriter {
    /** @throws SchemaMismatchException the schema cannot hold the value */
    void write(SpecializedGetters from, int place, AvroBuffer to);
}
