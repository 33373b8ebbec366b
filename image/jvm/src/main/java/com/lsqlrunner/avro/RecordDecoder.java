package com.lsqlrunner.avro;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import com.lsqlrunner.registry.Registry;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.IntFunction;
import org.apache.avro.Schema;

/** Decodes records in the wire format of a registry to values of one schema. Threads may share it. */
final class RecordDecoder {
    /** A zero byte, then the schema id as four bytes. */
    static final int HEADER_BYTES = 5;

    private final Schema reader;
    private final IntFunction<Schema> writers;
    private final ConcurrentMap<Integer, Decoder> decoders = new ConcurrentHashMap<>();
    private Decoder last = new Decoder(-1, null);

    /** @param writers returns the schema of an id; throws {@link MalformedRecordException} for an unknown id */
    RecordDecoder(Schema reader, IntFunction<Schema> writers) {
        this.reader = reader;
        this.writers = writers;
    }

    /** The decoder for a reader schema, shared by all tasks. */
    static RecordDecoder shared(Registry registry, String reader) {
        return registry.shared(
                "avro " + reader,
                RecordDecoder.class,
                () -> new RecordDecoder(CatalystTypes.parse(reader), registry::schema));
    }

    /**
     * The value of a record; null for Avro's null.
     *
     * @param in reused for each record; not shared
     * @throws MalformedRecordException the bytes are not a valid record
     * @throws RegistryException the registry does not return the schema
     */
    Object decode(byte[] record, AvroInput in) {
        if (record.length < HEADER_BYTES) {
            throw new MalformedRecordException("%d bytes are too few for a schema id".formatted(record.length));
        }
        if (record[0] != 0) {
            throw new MalformedRecordException(
                    ShownValue.choose("the first byte is %d, not 0".formatted(record[0]), "the first byte is not 0"));
        }
        int id = ByteBuffer.wrap(record).getInt(1);
        Decoder current = last; // a race is harmless: a decoder is immutable
        if (current.id != id || current.values == null) {
            current = decoderOf(id);
            last = current;
        }
        Object value = current.values.read(in.start(record, HEADER_BYTES));
        if (in.remaining() > 0) {
            throw new MalformedRecordException("%d bytes remain after the value".formatted(in.remaining()));
        }
        return value;
    }

    private Decoder decoderOf(int id) {
        Decoder decoder = decoders.get(id);
        if (decoder == null) {
            decoder = new Decoder(id, ValueReaders.of(writers.apply(id), reader));
            decoders.put(id, decoder);
        }
        return decoder;
    }

    private record Decoder(int id, ValueReader values) {}
}
