package com.lsqlrunner.avro;

/**
 * Reads one value: from the place in a record to what Catalyst holds of it, null for Avro's null. Threads may share it.
 */
@FunctionalInterface
interface ValueReader {
    Object read(AvroBytes in);
}
