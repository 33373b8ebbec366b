package com.lsqlrunner.avro;

/** Bytes that are no record of a schema. The message is for people. */
final class Malformed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  Malformed(String reason) {
    super(reason, null, false, false); // a trace of our own decoding tells nobody anything
  }
}
