package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.registry.Registry;
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
    private final ConcurrentMap<Integer, Decoder> known = new ConcurrentHashMap<>();
    private Decoder last = new Decoder(-1, null);

    /** @param writers the schema of an id; throws {@link MalformedRecordException} for one that there is not */
    RecordDecoder(Schema reader, IntFunction<Schema> writers) {
        this.reader = reader;
        this.writers = writers;
    }

    /** The decoder of a reader's schema, shared by all tasks. */
    static RecordDecoder shared(Registry registry, String reader) {
        return registry.shared(
                "avro " + reader,
                RecordDecoder.class,
                () -> new RecordDecoder(CatalystTypes.parsed(reader), registry::schema));
    }

    /**
     * The value of a record, null for Avro's null.
     *
     * @param in reused from record to record; not shared
     * @throws MalformedRecordException the bytes are no such record
     * @throws RegistryException the registry did not say what the id means
     */
    Object decode(byte[] record, AvroBytes in) {
        if (record.length < HEADER) {
            throw new MalformedRecordException("%d bytes are too few for a schema id".formatted(record.length));
        }
        if (record[0] != 0) {
            throw new MalformedRecordException("the first byte is %d, not 0".formatted(record[0]));
        }
        int id = ByteBuffer.wrap(record).getInt(1);
        Decoder of = last; // racy, and harmless: what is found is never changed
        if (of.id != id || of.values == null) {
            of = decoderOf(id);
            last = of;
        }
        Object value = of.values.read(in.start(record, HEADER));
        if (in.left() > 0) {
            throw new MalformedRecordException("%d bytes are left behind the value".formatted(in.left()));
        }
        return value;
    }

    private Decoder decoderOf(int id) {
        Decoder found = known.get(id);
        if (found == null) {
            found = new Decoder(id, Readers.of(writers.apply(id), reader));
            known.put(id, found);
        }
        return found;
    }

    private record Decoder(int id, ValueReader values) {}
}
