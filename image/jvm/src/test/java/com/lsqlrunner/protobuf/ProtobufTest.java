package com.lsqlrunner.protobuf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.SchemaMismatchException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

final class ProtobufTest {
    private static final Descriptor EVERY = Messages.every();
    private static final StructType TYPE = Messages.type(Messages.specs(EVERY));

    private static byte[] body(byte[] record) {
        return Arrays.copyOfRange(record, 6, record.length);
    }

    private static byte[] bytes(int... values) {
        byte[] found = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            found[i] = (byte) values[i];
        }
        return found;
    }

    private static FieldSpec field(String name, int number, String kind, String presence) {
        return new FieldSpec(name, number, kind, presence, null, null, List.of(), List.of());
    }

    private static RecordReader reader(FieldSpec... fields) {
        List<FieldSpec> all = List.of(fields);
        return new RecordReader(new MessageSpec("M", List.of(0), all), Messages.type(all), id -> Messages.FILE);
    }

    private static InternalRow read(RecordReader reader, int... message) {
        return (InternalRow) reader.read(Messages.record(bytes(message)));
    }

    private static String malformed(RecordReader reader, byte[] record) {
        return assertThrows(MalformedRecordException.class, () -> reader.read(record))
                .reason();
    }

    @Test
    void whatProtobufsOwnClassesWroteIsReadAndWrittenAsTheSameMessage() throws InvalidProtocolBufferException {
        Random random = new Random(1);
        RecordReader reader = Messages.reader(EVERY);
        RecordWriter writer = new RecordWriter(TYPE, Messages.message(EVERY), Messages.ID);
        for (int i = 0; i < 2_000; i++) {
            Message message = Messages.random(EVERY, random);
            byte[] written = writer.write((InternalRow) reader.read(Messages.record(message.toByteArray())));
            assertEquals(message, DynamicMessage.parseFrom(EVERY, body(written)));
        }
    }

    @Test
    void brokenBytesAreMalformedWhereProtobufsOwnClassesRefuseThem() {
        Random random = new Random(2);
        RecordReader reader = Messages.reader(EVERY);
        int refused = 0;
        for (int i = 0; i < 5_000; i++) {
            byte[] message = Messages.random(EVERY, random).toByteArray();
            for (int changes = random.nextInt(3); changes >= 0 && message.length > 0; changes--) {
                message[random.nextInt(message.length)] = (byte) random.nextInt();
            }
            byte[] broken =
                    random.nextInt(4) == 0 ? Arrays.copyOf(message, random.nextInt(message.length + 1)) : message;
            try {
                reader.read(Messages.record(broken));
                DynamicMessage.parseFrom(EVERY, broken);
            } catch (MalformedRecordException error) {
                refused++; // here times and text are looked at as well
            } catch (InvalidProtocolBufferException error) {
                throw new AssertionError("read, and refused by Protobuf: " + Arrays.toString(broken), error);
            }
        }
        assertTrue(refused > 500, "refused " + refused);
    }

    @Test
    void aFieldThatIsNotThereIsItsZeroOrNull() {
        RecordReader reader = reader(
                field("a", 1, "int32", "implicit"),
                field("b", 2, "int32", "optional"),
                field("c", 3, "string", "repeated"));
        InternalRow row = read(reader);
        assertEquals(0, row.getInt(0));
        assertTrue(row.isNullAt(1));
        assertEquals(0, row.getArray(2).numElements());
    }

    @Test
    void aRequiredFieldThatIsNotThereMakesTheRecordMalformed() {
        RecordReader reader = reader(field("a", 1, "int32", "required"));
        assertEquals("there is no a, which is required", malformed(reader, Messages.record(new byte[0])));
    }

    @Test
    void theLastOfAValueCountsAndPiecesOfAMessageAreOne() {
        FieldSpec inner = new FieldSpec(
                "m",
                2,
                "message",
                "optional",
                null,
                null,
                List.of(),
                List.of(field("x", 1, "int32", "implicit"), field("y", 2, "int32", "implicit")));
        RecordReader reader = reader(field("a", 1, "int32", "implicit"), inner);
        InternalRow row = read(reader, 8, 1, 18, 2, 8, 5, 8, 2, 18, 2, 16, 6);
        assertEquals(2, row.getInt(0));
        assertEquals(5, row.getStruct(1, 2).getInt(0));
        assertEquals(6, row.getStruct(1, 2).getInt(1));
    }

    @Test
    void ofAOneofTheLastCountsEvenWhereItIsNotRead() {
        FieldSpec a = new FieldSpec("a", 1, "int32", "optional", "one", null, List.of(), List.of());
        FieldSpec b = new FieldSpec("b", 2, "int32", "optional", "one", null, List.of(), List.of());
        MessageSpec message = new MessageSpec("M", List.of(0), List.of(a, b));
        StructType onlyA = new StructType().add("a", DataTypes.IntegerType);
        RecordReader reader = new RecordReader(message, onlyA, id -> Messages.FILE);
        assertTrue(read(reader, 8, 1, 16, 2).isNullAt(0));
        assertEquals(3, read(reader, 16, 2, 8, 3).getInt(0));
    }

    @Test
    void fieldsThatAreNotKnownAreSkippedWithTheirGroups() {
        RecordReader reader = reader(field("a", 1, "int32", "implicit"));
        assertEquals(
                7,
                read(reader, 16, 1, 25, 1, 2, 3, 4, 5, 6, 7, 8, 35, 40, 1, 36, 8, 7)
                        .getInt(0));
        assertEquals("a group ends as another", malformed(reader, Messages.record(bytes(35, 44))));
        byte[] deep = new byte[5_000_000];
        Arrays.fill(deep, (byte) 35);
        assertEquals("groups are more than 100 deep", malformed(reader, Messages.record(deep)));
    }

    @Test
    void theMessageIsNamedByItsPlaceInTheWritersFile() {
        MessageSpec inner = new MessageSpec("N.O", List.of(1, 0), List.of(field("a", 1, "int32", "implicit")));
        StructType type = new StructType().add("a", DataTypes.IntegerType);
        RecordReader reader = new RecordReader(inner, type, id -> Messages.FILE);
        assertEquals(5, ((InternalRow) reader.read(Messages.record(bytes(8, 5), 4, 2, 0))).getInt(0));
        assertEquals("the message is M, not N.O", malformed(reader, Messages.record(bytes(8, 5))));
        assertEquals("the message is N, not N.O", malformed(reader, Messages.record(bytes(8, 5), 2, 2)));
        assertEquals("schema 7 has no message at [1, 3]", malformed(reader, Messages.record(bytes(8, 5), 4, 2, 6)));
        byte[] written = new RecordWriter(type, inner, Messages.ID).write(new GenericInternalRow(new Object[] {5}));
        assertArrayEquals(Messages.record(bytes(8, 5), 4, 2, 0), written);
    }

    @Test
    void aFirstMessageMayBeNamedAtLength() {
        RecordReader reader = reader(field("a", 1, "int32", "implicit"));
        assertEquals(5, ((InternalRow) reader.read(Messages.record(bytes(8, 5), 2, 0))).getInt(0));
    }

    @Test
    void placesAreThoseOfMessagesAlone() {
        String file = """
        syntax = "proto3"; // message X {
        /* message Y { */ option a = "message Z {";
        enum E { A = 0; }
        message A {
          oneof one { string message = 1; }
          map<string, int32> counts = 2 [(my.option) = { message: "x" }];
          enum F { B = 0; }
          message B { message C {} }
          message D {}
        }
        service S { rpc Do(A) returns (A) { option x = 1; } }
        extend A { int32 y = 100; }
        message Last {}
        """;
        assertEquals(
                Map.of(
                        List.of(0),
                        "A",
                        List.of(0, 0),
                        "A.B",
                        List.of(0, 0, 0),
                        "A.B.C",
                        List.of(0, 1),
                        "A.D",
                        List.of(1),
                        "Last"),
                MessageNames.of(file));
    }

    @Test
    void recordsWithoutAHeadAreMalformed() {
        RecordReader reader = reader(field("a", 1, "int32", "implicit"));
        assertEquals("3 bytes are too few for a schema id", malformed(reader, new byte[3]));
        assertEquals("the first byte is 8, not 0", malformed(reader, bytes(8, 1, 2, 3, 4, 5)));
        assertEquals("the record ends in the middle of a value", malformed(reader, new byte[5]));
        assertEquals("a message cannot be -1 messages deep", malformed(reader, Messages.record(new byte[0], 1)));
    }

    @Test
    void whatASchemaCannotHoldIsRefused() {
        FieldSpec symbol =
                new FieldSpec("a", 1, "enum", "optional", null, null, List.of(new FieldSpec.Symbol("X", 0)), List.of());
        StructType text = new StructType().add("a", DataTypes.StringType);
        RecordWriter writer = new RecordWriter(text, new MessageSpec("M", List.of(0), List.of(symbol)), 1);
        InternalRow unknown = new GenericInternalRow(new Object[] {UTF8String.fromString("Y")});
        assertEquals(
                "Y is none of [X]: field a",
                assertThrows(SchemaMismatchException.class, () -> writer.write(unknown))
                        .reason());
        MessageSpec number = new MessageSpec("M", List.of(0), List.of(field("a", 1, "int32", "optional")));
        assertEquals(
                "string does not fit Protobuf's int32: field a",
                assertThrows(SchemaMismatchException.class, () -> new RecordWriter(text, number, 1))
                        .reason());
        assertEquals(
                "the schema has no such field: b",
                assertThrows(
                                SchemaMismatchException.class,
                                () -> new RecordWriter(new StructType().add("b", DataTypes.LongType), number, 1))
                        .reason());
    }
}
