package com.lsqlrunner.expression;

/** Bytes that are no value of their format. The message is for people. */
public final class Malformed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Malformed(String reason) {
    super(reason, null, false, false); // a trace of our own decoding tells nobody anything
  }
}
