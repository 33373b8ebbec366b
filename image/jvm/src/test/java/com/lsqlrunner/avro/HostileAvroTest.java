package com.lsqlrunner.avro;

import static com.lsqlrunner.bytes.HostileRecord.TOO_DEEP;
import static com.lsqlrunner.bytes.HostileRecord.TOO_MANY;
import static com.lsqlrunner.bytes.HostileRecord.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of some bytes that claim many values, or values nested in one another. */
final class HostileAvroTest {
    private static final Schema NOTHING = Records.record();
    private static final Schema EMPTY_RECORD = Records.schema("{\"type\":\"record\",\"name\":\"E\",\"fields\":[]}");

    /** Writes a record without Avro's checks of its schema. */
    private interface Body {
        void write(BinaryEncoder to) throws IOException;
    }

    private static byte[] record(Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(ByteBuffer.allocate(5).put((byte) 0).putInt(Records.ID).array());
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            body.write(encoder);
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
        return bytes.toByteArray();
    }

    /** Blocks that claim some items each, without the bytes of an item. */
    private static byte[] blocks(int blocks, long items) {
        return record(to -> {
            for (int i = 0; i < blocks; i++) {
                to.writeLong(items);
            }
            to.writeLong(0);
        });
    }

    private static Object decoded(Schema schema, byte[] record) {
        return Records.decoded(schema, schema, record);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"array\",\"items\":\"null\"}",
                "{\"type\":\"array\",\"items\":{\"type\":\"fixed\",\"name\":\"F\",\"size\":0}}",
                "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"E\",\"fields\":[]}}"
            })
    void itemsWithoutBytesAreCountedOverAllBlocks(String type) {
        Schema schema = Records.schema(type);

        assertRefused(TOO_MANY.formatted(32), () -> decoded(schema, blocks(20, 1_000_000)));
        assertRefused(TOO_MANY.formatted(32), () -> decoded(schema, blocks(1, Long.MAX_VALUE)));
        assertNotNull(decoded(schema, blocks(10, 100_000)));
    }

    @Test
    void itemsOfInnerArraysAreCountedTogether() {
        Schema schema = Records.schema("{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":\"null\"}}");
        byte[] record = record(to -> {
            to.writeLong(1_000);
            for (int i = 0; i < 1_000; i++) {
                to.writeLong(1_000_000);
                to.writeLong(0);
            }
            to.writeLong(0);
        });

        assertRefused("field [1]: " + TOO_MANY.formatted(32), () -> decoded(schema, record));
    }

    @Test
    void entriesOfAMapAreCounted() {
        Schema schema = Records.schema("{\"type\":\"map\",\"values\":\"null\"}");

        assertRefused(TOO_MANY.formatted(32), () -> decoded(schema, blocks(1, 1_000_000)));
    }

    @Test
    void fieldsThatOnlyTheReaderHasAreCounted() {
        Schema writer = Schema.createArray(EMPTY_RECORD);
        Schema reader =
                Records.schema("{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"E\",\"fields\":[%s]}}"
                        .formatted(IntStream.range(0, 100)
                                .mapToObj(i -> Records.field("f" + i, "[\"null\",\"long\"]", "null"))
                                .collect(Collectors.joining(","))));

        assertRefused(
                "field [37943]: " + TOO_MANY.formatted(32), () -> Records.decoded(writer, reader, blocks(1, 100_000)));
        assertNotNull(Records.decoded(writer, reader, blocks(1, 10_000)));
    }

    @Test
    void aRecordWhoseValuesHaveAByteEachIsDecodedWhateverItsSize() {
        Schema schema = Records.record(Records.field("a", "{\"type\":\"array\",\"items\":\"boolean\"}"));
        byte[] record = Records.bytes(Records.ID, schema, Records.of(schema, Collections.nCopies(3_000_000, true)));

        InternalRow row = (InternalRow) decoded(schema, record);

        assertEquals(3_000_000, row.getArray(0).numElements());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"type\":\"array\",\"items\":\"null\"}",
                "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"E\",\"fields\":[]}}"
            })
    void skippedItemsWithoutBytesTakeNoTime(String type) {
        Schema writer = Records.record(Records.field("a", type));

        assertTimeout(
                Duration.ofSeconds(5),
                () -> assertNotNull(Records.decoded(writer, NOTHING, blocks(100_000, Long.MAX_VALUE))));
    }

    @Test
    void valuesThatAreNotReadMayBeNested500LevelsDeep() {
        Schema writer = new Schema.Parser()
                .parse("{\"type\":\"record\",\"name\":\"R\",\"fields\":["
                        + Records.field("next", "[\"null\",{\"type\":\"array\",\"items\":\"R\"}]") + "]}");
        byte[] record = record(to -> {
            for (int i = 0; i < 100_000; i++) {
                to.writeIndex(1);
                to.writeLong(1);
            }
        });

        assertRefused("field next: " + TOO_DEEP, () -> Records.decoded(writer, NOTHING, record));
    }

    @Test
    void aDecimalOfAMillionBytesIsRefused() {
        Schema schema = Records.schema("{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":20,\"scale\":2}");
        byte[] digits = new byte[1_000_000];
        digits[0] = 1;

        assertRefused("a decimal has more than 20 digits", () -> decoded(schema, record(to -> to.writeBytes(digits))));
    }
}
