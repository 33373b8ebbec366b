package com.lsqlrunner.avro;

import com.lsqlrunner.expression.Malformed;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntFunction;
import org.apache.avro.Schema;

/** Records in the wire format of a registry to the values of one schema. Threads may share it. */
final class RecordDecoder {
  /** A zero, then the id as four bytes. */
  static final int HEADER = 5;

  private final Schema reader;
  private final IntFunction<Schema> writers;
  private final ConcurrentMap<Integer, Known> known = new ConcurrentHashMap<>();
  private Known last = new Known(-1, null);

  /** @param writers the schema of an id; throws {@link Malformed} for one that there is not */
  RecordDecoder(Schema reader, IntFunction<Schema> writers) {
    this.reader = reader;
    this.writers = writers;
  }

  /**
   * The value of a record, null for Avro's null.
   *
   * @param in reused from record to record; not shared
   * @throws Malformed the bytes are no such record
   * @throws RegistryFailure the registry did not say what the id means
   */
  Object decode(byte[] record, AvroBytes in) {
    if (record.length < HEADER) {
      throw new Malformed("%d bytes are too few for a schema id".formatted(record.length));
    }
    if (record[0] != 0) {
      throw new Malformed("the first byte is %d, not 0".formatted(record[0]));
    }
    int id = ByteBuffer.wrap(record).getInt(1);
    Known of = last; // racy, and harmless: what is found is never changed
    if (of.id != id || of.values == null) {
      of = known(id);
      last = of;
    }
    Object value = of.values.read(in.start(record, HEADER));
    if (in.left() > 0) {
      throw new Malformed("%d bytes are left behind the value".formatted(in.left()));
    }
    return value;
  }

  private Known known(int id) {
    Known found = known.get(id);
    if (found == null) {
      found = new Known(id, Readers.of(writers.apply(id), reader));
      known.put(id, found);
    }
    return found;
  }

  private record Known(int id, ValueReader values) {}
}
