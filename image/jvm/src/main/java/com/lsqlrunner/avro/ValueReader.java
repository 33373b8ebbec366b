package com.lsqlrunner.avro;

/** Reads one value of a record as Catalyst's value; null for Avro's null. Threads may share it. */
@FunctionalInterface
interface ValueReader {
    Object read(AvroInput in);
}
