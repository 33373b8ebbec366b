package com.lsqlrunner.avro;

import java.util.Map;
import java.util.function.IntFunction;
import org.apache.avro.Schema;

/** Schemas that are there already, each whole: what a registry would say where there is none. */
final class GivenSchemas implements IntFunction<Schema> {
  private final Map<Integer, String> texts;

  /** @param texts JSON of Avro by id */
  GivenSchemas(Map<Integer, String> texts) {
    this.texts = Map.copyOf(texts);
  }

  @Override
  public Schema apply(int id) {
    String text = texts.get(id);
    return text == null ? null : CatalystTypes.parsed(text, CatalystTypes.parser());
  }
}
