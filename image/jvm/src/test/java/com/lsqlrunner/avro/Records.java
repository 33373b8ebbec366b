package com.lsqlrunner.avro;

import com.lsqlrunner.expression.ValueText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/** Test records, written and read by Avro's own classes. */
final class Records {
    static final int ID = 7;

    private Records() {}

    static Schema schema(String text) {
        return CatalystTypes.parse(text);
    }

    /** A schema of a record {@code R} with the given fields, which are JSON. */
    static Schema record(String... fields) {
        return schema("{\"type\":\"record\",\"name\":\"R\",\"fields\":[" + String.join(",", fields) + "]}");
    }

    static String field(String name, String type) {
        return "{\"name\":\"%s\",\"type\":%s}".formatted(name, type);
    }

    static String field(String name, String type, String defaultValue) {
        return "{\"name\":\"%s\",\"type\":%s,\"default\":%s}".formatted(name, type, defaultValue);
    }

    static GenericRecord of(Schema schema, Object... values) {
        GenericData.Record record = new GenericData.Record(schema);
        for (int i = 0; i < values.length; i++) {
            record.put(i, values[i]);
        }
        return record;
    }

    /** A record in the wire format, written by Avro's own encoder. */
    static byte[] bytes(int id, Schema schema, Object value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ByteBuffer.allocate(5).put((byte) 0).putInt(id).array());
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<>(schema).write(value, encoder);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return bytes.toByteArray();
    }

    /** Reads a record in the wire format with Avro's own decoder. */
    static Object read(Schema schema, byte[] record) throws IOException {
        return new GenericDatumReader<>(schema)
                .read(null, DecoderFactory.get().binaryDecoder(record, 5, record.length - 5, null));
    }

    /** The decoded value of a record. */
    static Object decoded(Schema writer, Schema reader, byte[] record) {
        return new RecordDecoder(reader, id -> writer).decode(record, new AvroInput());
    }

    /** The text of a type. Spark's own text of a struct needs a session. */
    static String shown(DataType type) {
        return type instanceof StructType struct
                ? Stream.of(struct.fields())
                        .map(field -> field.name() + ":" + shown(field.dataType()))
                        .collect(Collectors.joining(",", "struct<", ">"))
                : type.simpleString();
    }

    static String shown(Object value) {
        return ValueText.of(value);
    }
}
