package com.lsqlrunner.registry;

import org.apache.avro.Schema;

/** Gives schemas by their ids. */
interface SchemaSource {
    /**
     * An Avro schema; null for an id that does not exist.
     *
     * @throws com.lsqlrunner.errors.MalformedRecordException the id is a schema of another kind
     * @throws RegistryException the registry does not say
     * @throws org.apache.avro.AvroRuntimeException the text is no schema
     */
    Schema avro(int id);

    /**
     * The text of a {@code .proto} file; null for an id that does not exist.
     *
     * @throws com.lsqlrunner.errors.MalformedRecordException the id is a schema of another kind
     * @throws RegistryException the registry does not say
     */
    String protobuf(int id);
}
