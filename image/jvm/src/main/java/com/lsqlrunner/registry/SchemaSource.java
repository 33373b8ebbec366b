package com.lsqlrunner.registry;

import org.apache.avro.Schema;

/** Whoever knows schemas by their ids. */
interface SchemaSource {
  /**
   * A schema of Avro, null where there is none.
   *
   * @throws com.lsqlrunner.errors.MalformedRecordException there is one of another kind
   * @throws RegistryException the registry does not say
   * @throws org.apache.avro.AvroRuntimeException the text is no schema
   */
  Schema avro(int id);

  /**
   * The text of a file of Protobuf, null where there is none.
   *
   * @throws com.lsqlrunner.errors.MalformedRecordException there is a schema of another kind
   * @throws RegistryException the registry does not say
   */
  String protobuf(int id);
}
