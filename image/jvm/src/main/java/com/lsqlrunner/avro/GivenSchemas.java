package com.lsqlrunner.avro;

import java.util.Map;
import org.apache.avro.Schema;

/** Schemas that are there already, each whole: what a registry would say where there is none. */
final class GivenSchemas implements Schemas {
  private final Map<Integer, String> texts;

  /** @param texts JSON of Avro, or a file of Protobuf, by id */
  GivenSchemas(Map<Integer, String> texts) {
    this.texts = Map.copyOf(texts);
  }

  @Override
  public Schema avro(int id) {
    String text = texts.get(id);
    return text == null ? null : CatalystTypes.parsed(text, CatalystTypes.parser());
  }

  @Override
  public String protobuf(int id) {
    return texts.get(id);
  }
}
