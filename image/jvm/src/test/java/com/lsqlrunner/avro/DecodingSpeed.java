package com.lsqlrunner.avro;

import com.lsqlrunner.json.DecodeJson;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Measures how long it takes to decode one record of Avro and of JSON. Not a test. It needs the jars of Spark:
 *
 * <pre>
 * java -cp image/jvm/target/classes:image/jvm/target/test-classes:'.venv/lib/python3.11/site-packages/pyspark/jars/*'
 * com.lsqlrunner.avro.DecodingSpeed</pre>
 */
final class DecodingSpeed {
    private static final int RECORDS = 400_000;
    private static final int ROUNDS = 9;
    /** The processor time of the thread: it depends less on other processes, and excludes garbage collection. */
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

    private static long checksum;

    private DecodingSpeed() {}

    private interface Decoding {
        Object decode() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Schema schema = Records.record(
                Records.field("id", "\"long\""),
                Records.field("customer", "\"string\""),
                Records.field("country", "[\"null\",\"string\"]"),
                Records.field("amount", "\"double\""),
                Records.field("quantity", "\"int\""),
                Records.field("paid", "\"boolean\""),
                Records.field(
                        "address",
                        "{\"type\":\"record\",\"name\":\"A\",\"fields\":["
                                + "{\"name\":\"street\",\"type\":\"string\"},{\"name\":\"zip\",\"type\":\"string\"}]}"),
                Records.field("tags", "{\"type\":\"array\",\"items\":\"string\"}"));
        GenericData.Array<String> tags =
                new GenericData.Array<>(schema.getField("tags").schema(), Arrays.asList("new", "web"));
        Object address = Records.of(schema.getField("address").schema(), "Main Street 12", "10115");
        Object value = Records.of(schema, 123_456_789L, "customer-4711", "DE", 49.95, 3, true, address, tags);

        byte[] avro = Records.bytes(1, schema, value);
        byte[] json = value.toString().getBytes(StandardCharsets.UTF_8);
        Map<String, Decoding> decodings =
                Map.of("avro", avro(schema, avro), "json", json(schema, json), "generic", generic(schema, avro));
        System.out.printf("%d bytes of Avro, %d of JSON%n", avro.length, json.length);
        for (int round = 0; round < ROUNDS; round++) {
            StringBuilder line = new StringBuilder();
            for (String decoding : new String[] {"avro", "json", "generic"}) {
                line.append("%s %.0f ns  ".formatted(decoding, nanos(decodings.get(decoding))));
            }
            System.out.println(line);
        }
        System.out.println(checksum);
    }

    private static Decoding avro(Schema schema, byte[] record) {
        RecordDecoder decoder = new RecordDecoder(schema, id -> schema);
        AvroInput input = new AvroInput();
        return () -> decoder.decode(record, input);
    }

    private static Decoding json(Schema schema, byte[] record) {
        DecodeJson decoder = new DecodeJson(
                new BoundReference(0, DataTypes.BinaryType, true), (StructType) CatalystTypes.of(schema));
        return () -> decoder.call(record);
    }

    /** Decodes to Avro's records, without the conversion to Catalyst's: a lower bound for Spark's own decoder. */
    private static Decoding generic(Schema schema, byte[] record) {
        GenericDatumReader<Object> reader = new GenericDatumReader<>(schema);
        BinaryDecoder[] decoder = new BinaryDecoder[1];
        Object[] before = new Object[1];
        return () -> {
            decoder[0] = DecoderFactory.get().binaryDecoder(record, 5, record.length - 5, decoder[0]);
            before[0] = reader.read(before[0], decoder[0]);
            return before[0];
        };
    }

    private static double nanos(Decoding decoding) throws Exception {
        long start = CLOCK.getCurrentThreadCpuTime();
        for (int i = 0; i < RECORDS; i++) {
            checksum += System.identityHashCode(decoding.decode().getClass()) & 1;
        }
        return (CLOCK.getCurrentThreadCpuTime() - start) / (double) RECORDS;
    }
}
