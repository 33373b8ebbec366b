package com.lsqlrunner.avro;

import com.lsqlrunner.speed.SpeedComparison;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;

/**
 * Compares {@link RecordDecoder} and {@link RecordEncoder} with Avro's generic records, on the report of fifteen fields
 * of the benchmark: read one field, read five, write five. Not a test: run it with the jars of Spark, like
 * {@link DecodingSpeed}.
 */
final class AvroReportSpeed {
    private static final Schema REPORT = Records.record(
            Records.field("Type", "\"int\""),
            Records.field("Repeat", "\"int\""),
            Records.field("MMSI", "\"long\""),
            Records.field("Status", "\"int\""),
            Records.field("Turn", "\"double\""),
            Records.field("Speed", "\"double\""),
            Records.field("Accuracy", "\"boolean\""),
            Records.field("Long", "\"double\""),
            Records.field("Lat", "\"double\""),
            Records.field("Course", "\"double\""),
            Records.field("Heading", "\"int\""),
            Records.field("Timestamp", "\"string\""),
            Records.field("Maneuver", "\"int\""),
            Records.field("RAIM", "\"boolean\""),
            Records.field("Radio", "\"long\""));

    private AvroReportSpeed() {}

    public static void main(String[] arguments) throws Exception {
        String time = "2026-01-01T00:00:06.003Z";
        GenericRecord report = Records.of(
                REPORT, 1, 0, 230_000_017L, 5, -1.5, 17.3, true, 24.95, 60.16, 231.4, 230, time, 0, false, 49_205L);
        byte[] record = Records.bytes(Records.ID, REPORT, report);
        compareReading("AVRO, read one of 15 fields", narrowed("Speed"), record);
        Schema five = narrowed("MMSI", "Speed", "Long", "Lat", "Timestamp");
        compareReading("AVRO, read five of 15 fields", five, record);
        Object row = Records.decoded(REPORT, five, record);
        Object result = new GenericDatumReader<>(REPORT, five).read(null, body(record));
        RecordEncoder encoder = new RecordEncoder(CatalystTypes.of(five), five, Records.ID);
        SpeedComparison.compare(
                "AVRO, write five fields", () -> encoder.encode(row), () -> Records.bytes(Records.ID, five, result));
    }

    private static void compareReading(String name, Schema reader, byte[] record) throws Exception {
        RecordDecoder decoder = new RecordDecoder(reader, id -> REPORT);
        AvroInput input = new AvroInput();
        GenericDatumReader<Object> library = new GenericDatumReader<>(REPORT, reader);
        BinaryDecoder[] bytes = new BinaryDecoder[1];
        SpeedComparison.compare(name, () -> decoder.decode(record, input), () -> {
            bytes[0] = DecoderFactory.get().binaryDecoder(record, 5, record.length - 5, bytes[0]);
            return library.read(null, bytes[0]);
        });
    }

    private static BinaryDecoder body(byte[] record) {
        return DecoderFactory.get().binaryDecoder(record, 5, record.length - 5, null);
    }

    private static Schema narrowed(String... names) {
        return Records.record(Stream.of(names)
                .map(name -> Records.field(name, REPORT.getField(name).schema().toString()))
                .toArray(String[]::new));
    }
}
