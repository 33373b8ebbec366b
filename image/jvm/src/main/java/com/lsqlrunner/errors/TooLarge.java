package com.lsqlrunner.errors;

/** A record that is larger than its topic takes. The message is for people. */
final class TooLarge extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TooLarge(int bytes, int limit) {
    super("[LSQL_RECORD_TOO_LARGE] the record has %d bytes, its topic takes %d".formatted(bytes, limit), null, false, false);
  }
}
