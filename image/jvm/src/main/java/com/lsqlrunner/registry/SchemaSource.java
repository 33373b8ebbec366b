package com.lsqlrunner.registry;

import org.apache.avro.Schema;

/** Returns schemas by id. */
interface SchemaSource {
    /**
     * An Avro schema; null if the id does not exist.
     *
     * @throws com.lsqlrunner.errors.MalformedRecordException the schema has another type
     * @throws RegistryException the registry does not return the schema
     * @throws org.apache.avro.AvroRuntimeException the text is not a schema
     */
    Schema avro(int id);

    /**
     * The text of a {@code .proto} file; null if the id does not exist.
     *
     * @throws com.lsqlrunner.errors.MalformedRecordException the schema has another type
     * @throws RegistryException the registry does not return the schema
     */
    String protobuf(int id);
}
