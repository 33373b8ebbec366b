package com.lsqlrunner.avro;

/** The registry did not say what an id means, which says nothing about the record: it may pass. */
final class RegistryFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private RegistryFailure(String condition, String reason) {
    super("[" + condition + "] " + reason); // no cause: what is behind it would be taken for the reason
  }

  static RegistryFailure unreachable(String reason) {
    return new RegistryFailure("LSQL_REGISTRY_UNREACHABLE", "The schema registry does not answer: " + reason);
  }

  static RegistryFailure refused(String reason) {
    return new RegistryFailure("LSQL_REGISTRY_REFUSED", "The schema registry refuses: " + reason);
  }
}
