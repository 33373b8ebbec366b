package com.lsqlrunner.errors;

import java.util.function.Supplier;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.unsafe.types.UTF8String;

/** What an {@link Attempt} gives, without the expression that it is of. */
final class Tried {
  private Tried() {}

  /**
   * A value and an error, one of the two null.
   *
   * @param failed an earlier error, which stays: the value is not computed then; null for none
   * @param value throws what it likes; what {@code faults} does not know for a fault is thrown as it is
   */
  static InternalRow of(Object failed, Supplier<Object> value, Faults faults) {
    if (failed != null) {
      return new GenericInternalRow(new Object[] {null, failed});
    }
    try {
      return new GenericInternalRow(new Object[] {value.get(), null});
    } catch (Throwable error) { // Scala does not declare what it throws
      Fault fault = faults.find(error);
      if (fault == null) {
        throw Tried.<RuntimeException>thrown(error);
      }
      return new GenericInternalRow(new Object[] {null, row(fault)});
    }
  }

  private static InternalRow row(Fault fault) {
    return new GenericInternalRow(
        new Object[] {
          UTF8String.fromString(fault.side()),
          UTF8String.fromString(fault.code()),
          UTF8String.fromString(fault.message())
        });
  }

  /** Throws an exception that Java would want to be declared; Spark's own are such. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException thrown(Throwable error) throws E {
    throw (E) error;
  }
}
