package com.lsqlrunner.avro;

import java.io.IOException;
import org.apache.avro.io.Encoder;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** Writes the value at an index of a row or an array. Threads may share it. */
@FunctionalInterface
interface ValueWriter {
    /** @throws SchemaMismatchException the schema cannot hold the value */
    void write(SpecializedGetters from, int index, Encoder to) throws IOException;
}
