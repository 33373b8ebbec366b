package com.lsqlrunner.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class FaultsTest {
  private static final Faults FAULTS =
      Faults.of(
          """
          {"kinds": {"CAST_INVALID_INPUT": ["read", "RECORD_REFUSED", "RECORD_MALFORMED"],
                     "USER_RAISED_EXCEPTION": ["read", "RECORD_REFUSED", "RECORD_MALFORMED"],
                     "MALFORMED_RECORD_IN_PARSING": ["read", "RECORD_MALFORMED", "RECORD_MALFORMED"],
                     "LSQL_RECORD_TOO_LARGE": ["write", "RECORD_TOO_LARGE", "RECORD_TOO_LARGE"]},
           "never": ["LSQL_REGISTRY_UNREACHABLE", "LSQL_GROUP_TOO_LARGE"],
           "malformed": "expected \\\\d+ bytes, found \\\\d+",
           "end": "\\\\s*SQLSTATE:|\\\\s+Use `?try_"}
          """);

  private static Fault refused(String message) {
    return new Fault("read", "RECORD_REFUSED", message);
  }

  @Test
  void aConditionOfTheTableIsAFaultWithItsReasonAlone() {
    Throwable error =
        new ArithmeticException(
            "[CAST_INVALID_INPUT] The value 'x' is malformed. Use `try_cast` to get NULL. SQLSTATE: 22018\n== SQL ==\nat");

    assertEquals(refused("CAST_INVALID_INPUT: The value 'x' is malformed"), FAULTS.find(error));
  }

  @Test
  void aFaultIsFoundWithinWhatWrapsIt() {
    Throwable cause = new RuntimeException("[USER_RAISED_EXCEPTION.PLAIN] no");

    assertEquals(refused("USER_RAISED_EXCEPTION: no"), FAULTS.find(new RuntimeException("wrapped", cause)));
  }

  @Test
  void bytesThatAreNotOfTheirFormatAreMalformedWhoeverSaysSo() {
    Throwable error = new RuntimeException("[USER_RAISED_EXCEPTION] expected 4 bytes, found 3");

    assertEquals("RECORD_MALFORMED", FAULTS.find(error).code());
  }

  @Test
  void whyARecordIsMalformedComesFromTheParser() {
    Throwable cause = new RuntimeException("the first byte is 1, not 0\nand more");
    Throwable error = new RuntimeException("[MALFORMED_RECORD_IN_PARSING.A] Malformed: {\"a\n\":", cause);

    assertEquals("MALFORMED_RECORD_IN_PARSING: the first byte is 1, not 0", FAULTS.find(error).message());
  }

  @Test
  void aRecordThatIsTooLargeIsOfWriting() {
    Fault found = FAULTS.find(new TooLarge(1_234, 1_000));

    assertEquals(
        new Fault("write", "RECORD_TOO_LARGE", "LSQL_RECORD_TOO_LARGE: the record has 1234 bytes, its topic takes 1000"),
        found);
  }

  @Test
  void whatNoRecordIsAtFaultForIsNoFault() {
    assertNull(FAULTS.find(new RuntimeException("[LSQL_REGISTRY_UNREACHABLE] away")));
    assertNull(FAULTS.find(new RuntimeException("[SOMETHING_ELSE] odd")));
    assertNull(FAULTS.find(new NullPointerException()));
    assertNull(FAULTS.find(new OutOfMemoryError("[CAST_INVALID_INPUT] not that")));
    assertNull(FAULTS.find(new RuntimeException("[CAST_INVALID_INPUT] x", new InterruptedException())));
    Throwable registry = new RuntimeException("[LSQL_REGISTRY_UNREACHABLE] away");
    assertNull(FAULTS.find(new RuntimeException("[USER_RAISED_EXCEPTION] within a function", registry)));
  }

  @Test
  void aReasonIsOneShortLine() {
    Throwable error = new RuntimeException("[CAST_INVALID_INPUT] " + "x".repeat(1_000));

    assertEquals("CAST_INVALID_INPUT: ".length() + 300, FAULTS.find(error).message().length());
  }
}
