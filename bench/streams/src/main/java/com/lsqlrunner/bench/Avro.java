package com.lsqlrunner.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * AVRO with a schema registry: a zero byte, the id of the schema, the value. Confluent's serializers are not on Maven
 * Central; like theirs, these use Avro's readers and writers of generic records, and request each schema once. The
 * reader has the schema of the results, so Avro skips the other fields of a report.
 */
final class Avro {
    private static final int HEADER_BYTES = 5;

    private final String registry;
    private final int schemaId;
    private final Schema schema;
    private final Map<Integer, GenericDatumReader<GenericRecord>> readers = new ConcurrentHashMap<>();

    private Avro(String registry, int schemaId) {
        this.registry = registry;
        this.schemaId = schemaId;
        this.schema = schema(schemaId);
    }

    /** Keeps the fast vessels and the fields that the schema of the results has. */
    static void filter(StreamsBuilder builder, Workload workload) {
        Serde<GenericRecord> records = new Avro(workload.registry(), workload.schemaId()).serde();
        builder.stream(workload.source(), Consumed.with(Serdes.ByteArray(), records))
                .filter((key, report) -> (double) report.get("Speed") > 10)
                .to(workload.target(), Produced.with(Serdes.ByteArray(), records));
    }

    /** One instance serves all threads; what is reused between records is kept by thread. */
    private Serde<GenericRecord> serde() {
        byte[] header = ByteBuffer.allocate(HEADER_BYTES).putInt(1, schemaId).array();
        GenericDatumWriter<GenericRecord> writer = new GenericDatumWriter<>(schema);
        ThreadLocal<BinaryDecoder> decoders = new ThreadLocal<>();
        ThreadLocal<BinaryEncoder> encoders = new ThreadLocal<>();
        return Serdes.serdeFrom(
                (topic, value) -> {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
                    bytes.writeBytes(header);
                    try {
                        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, encoders.get());
                        encoders.set(encoder);
                        writer.write(value, encoder);
                    } catch (IOException error) {
                        throw new UncheckedIOException(error);
                    }
                    return bytes.toByteArray();
                },
                (topic, data) -> {
                    int writerId = ByteBuffer.wrap(data).getInt(1);
                    try {
                        BinaryDecoder decoder = DecoderFactory.get()
                                .binaryDecoder(data, HEADER_BYTES, data.length - HEADER_BYTES, decoders.get());
                        decoders.set(decoder);
                        return readers.computeIfAbsent(writerId, id -> new GenericDatumReader<>(schema(id), schema))
                                .read(null, decoder);
                    } catch (IOException error) {
                        throw new UncheckedIOException(error);
                    }
                });
    }

    private Schema schema(int id) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(registry + "/schemas/ids/" + id)).build();
            String answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
            return new Schema.Parser().parse(new ObjectMapper().readTree(answer).get("schema").textValue());
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(error);
        }
    }
}
