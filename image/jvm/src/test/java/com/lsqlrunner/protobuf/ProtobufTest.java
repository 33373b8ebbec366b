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
    private static final Descriptor ALL_TYPES = Messages.allTypes();
    private static final StructType TYPE = Messages.type(Messages.specs(ALL_TYPES));

    private static byte[] body(byte[] record) {
        return Arrays.copyOfRange(record, 6, record.length);
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    private static FieldSpec fieldSpec(String name, int number, String kind, String presence) {
        return new FieldSpec(name, number, kind, presence, null, null, List.of(), List.of());
    }

    private static MessageDecoder decoder(FieldSpec... fields) {
        List<FieldSpec> all = List.of(fields);
        return new MessageDecoder(new MessageSpec("M", List.of(0), all), Messages.type(all), id -> Messages.FILE);
    }

    private static InternalRow read(MessageDecoder decoder, int... message) {
        return (InternalRow) decoder.read(Messages.record(bytes(message)));
    }

    private static String malformed(MessageDecoder decoder, byte[] record) {
        return assertThrows(MalformedRecordException.class, () -> decoder.read(record))
                .reason();
    }

    @Test
    void aMessageOfProtobufsOwnClassesIsReadAndWrittenUnchanged() throws InvalidProtocolBufferException {
        Random random = new Random(1);
        MessageDecoder decoder = Messages.decoder(ALL_TYPES);
        MessageEncoder encoder = new MessageEncoder(TYPE, Messages.message(ALL_TYPES), Messages.ID);
        for (int i = 0; i < 2_000; i++) {
            Message message = Messages.random(ALL_TYPES, random);
            byte[] written = encoder.encode((InternalRow) decoder.read(Messages.record(message.toByteArray())));
            assertEquals(message, DynamicMessage.parseFrom(ALL_TYPES, body(written)));
        }
    }

    @Test
    void bytesThatProtobufsOwnClassesRefuseAreMalformed() {
        Random random = new Random(2);
        MessageDecoder decoder = Messages.decoder(ALL_TYPES);
        int refused = 0;
        for (int i = 0; i < 5_000; i++) {
            byte[] message = Messages.random(ALL_TYPES, random).toByteArray();
            for (int changes = random.nextInt(3); changes >= 0 && message.length > 0; changes--) {
                message[random.nextInt(message.length)] = (byte) random.nextInt();
            }
            byte[] broken =
                    random.nextInt(4) == 0 ? Arrays.copyOf(message, random.nextInt(message.length + 1)) : message;
            try {
                decoder.read(Messages.record(broken));
                DynamicMessage.parseFrom(ALL_TYPES, broken);
            } catch (MalformedRecordException error) {
                refused++; // this reader also checks timestamps and strings
            } catch (InvalidProtocolBufferException error) {
                throw new AssertionError("read here, but refused by Protobuf: " + Arrays.toString(broken), error);
            }
        }
        assertTrue(refused > 500, "refused " + refused);
    }

    @Test
    void aMissingFieldIsZeroOrNull() {
        MessageDecoder decoder = decoder(
                fieldSpec("a", 1, "int32", "implicit"),
                fieldSpec("b", 2, "int32", "optional"),
                fieldSpec("c", 3, "string", "repeated"));
        InternalRow row = read(decoder);
        assertEquals(0, row.getInt(0));
        assertTrue(row.isNullAt(1));
        assertEquals(0, row.getArray(2).numElements());
    }

    @Test
    void aMissingRequiredFieldMakesTheRecordMalformed() {
        MessageDecoder decoder = decoder(fieldSpec("a", 1, "int32", "required"));
        assertEquals("field a: it is required, and missing", malformed(decoder, Messages.record(new byte[0])));
    }

    @Test
    void aMalformedValueIsNamedByItsPath() {
        FieldSpec text = fieldSpec("text", 1, "string", "implicit");
        FieldSpec lines = new FieldSpec("lines", 2, "message", "repeated", null, null, List.of(), List.of(text));
        FieldSpec named = new FieldSpec("named", 3, "message", "map", null, "string", List.of(), List.of(text));
        MessageDecoder decoder = decoder(fieldSpec("a", 1, "int32", "implicit"), lines, named);

        assertEquals(
                "field lines[1].text: a string is not UTF-8",
                malformed(decoder, Messages.record(bytes(18, 0, 18, 3, 10, 1, 255))));
        assertEquals(
                "field named.k.text: a string is not UTF-8",
                malformed(decoder, Messages.record(bytes(26, 8, 10, 1, 'k', 18, 3, 10, 1, 255))));
        assertEquals(
                "field a: the record ends in the middle of a value", malformed(decoder, Messages.record(bytes(8))));
    }

    @Test
    void theLastValueIsUsedAndPartsOfAMessageAreMerged() {
        FieldSpec inner = new FieldSpec(
                "m",
                2,
                "message",
                "optional",
                null,
                null,
                List.of(),
                List.of(fieldSpec("x", 1, "int32", "implicit"), fieldSpec("y", 2, "int32", "implicit")));
        MessageDecoder decoder = decoder(fieldSpec("a", 1, "int32", "implicit"), inner);
        InternalRow row = read(decoder, 8, 1, 18, 2, 8, 5, 8, 2, 18, 2, 16, 6);
        assertEquals(2, row.getInt(0));
        assertEquals(5, row.getStruct(1, 2).getInt(0));
        assertEquals(6, row.getStruct(1, 2).getInt(1));
    }

    @Test
    void aOneofHasOnlyItsLastFieldEvenIfThatIsNotRead() {
        FieldSpec a = new FieldSpec("a", 1, "int32", "optional", "one", null, List.of(), List.of());
        FieldSpec b = new FieldSpec("b", 2, "int32", "optional", "one", null, List.of(), List.of());
        MessageSpec message = new MessageSpec("M", List.of(0), List.of(a, b));
        StructType onlyA = new StructType().add("a", DataTypes.IntegerType);
        MessageDecoder decoder = new MessageDecoder(message, onlyA, id -> Messages.FILE);
        assertTrue(read(decoder, 8, 1, 16, 2).isNullAt(0));
        assertEquals(3, read(decoder, 16, 2, 8, 3).getInt(0));
    }

    @Test
    void unknownFieldsAndGroupsAreSkipped() {
        MessageDecoder decoder = decoder(fieldSpec("a", 1, "int32", "implicit"));
        assertEquals(
                7,
                read(decoder, 16, 1, 25, 1, 2, 3, 4, 5, 6, 7, 8, 35, 40, 1, 36, 8, 7)
                        .getInt(0));
        assertEquals(
                "field #4: a group ends with the number of another field",
                malformed(decoder, Messages.record(bytes(35, 44))));
        byte[] deep = new byte[5_000_000];
        Arrays.fill(deep, (byte) 35);
        assertEquals(
                "field #4: values are nested more than 500 levels deep", malformed(decoder, Messages.record(deep)));
    }

    @Test
    void theMessageIsIdentifiedByItsIndexesInTheWritersFile() {
        MessageSpec inner = new MessageSpec("N.O", List.of(1, 0), List.of(fieldSpec("a", 1, "int32", "implicit")));
        StructType type = new StructType().add("a", DataTypes.IntegerType);
        MessageDecoder decoder = new MessageDecoder(inner, type, id -> Messages.FILE);
        assertEquals(5, ((InternalRow) decoder.read(Messages.record(bytes(8, 5), 4, 2, 0))).getInt(0));
        assertEquals("the message is M, not N.O", malformed(decoder, Messages.record(bytes(8, 5))));
        assertEquals("the message is N, not N.O", malformed(decoder, Messages.record(bytes(8, 5), 2, 2)));
        assertEquals(
                "schema 7 has no message with the indexes [1, 3]",
                malformed(decoder, Messages.record(bytes(8, 5), 4, 2, 6)));
        byte[] written = new MessageEncoder(type, inner, Messages.ID).encode(new GenericInternalRow(new Object[] {5}));
        assertArrayEquals(Messages.record(bytes(8, 5), 4, 2, 0), written);
    }

    @Test
    void theIndexesOfTheFirstMessageMayBeWrittenInFull() {
        MessageDecoder decoder = decoder(fieldSpec("a", 1, "int32", "implicit"));
        assertEquals(5, ((InternalRow) decoder.read(Messages.record(bytes(8, 5), 2, 0))).getInt(0));
    }

    @Test
    void onlyMessagesHaveIndexes() {
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
    void groupsCountAsMessagesOfTheirScope() {
        String file = """
                message A {
                  optional group First = 1 [(unit) = { group Not = 2 }] { message Deep {} }
                  oneof one { group Second = 2 {} string group = 3; }
                  repeated string group = 4;
                  extend B { repeated group Third = 5 { optional int32 n = 1; } }
                  option (unit) = { group Not = 2 { a: 1 } };
                  message Last {}
                }
                extend A { optional group Fourth = 6 {} }
                message B {}
                """;
        assertEquals(
                Map.of(
                        List.of(0), "A",
                        List.of(0, 0), "A.First",
                        List.of(0, 0, 0), "A.First.Deep",
                        List.of(0, 1), "A.Second",
                        List.of(0, 2), "A.Third",
                        List.of(0, 3), "A.Last",
                        List.of(1), "Fourth",
                        List.of(2), "B"),
                MessageNames.of(file));
    }

    @Test
    void recordsWithoutAHeaderAreMalformed() {
        MessageDecoder decoder = decoder(fieldSpec("a", 1, "int32", "implicit"));
        assertEquals("3 bytes are too few for a schema id", malformed(decoder, new byte[3]));
        assertEquals("the first byte is 8, not 0", malformed(decoder, bytes(8, 1, 2, 3, 4, 5)));
        assertEquals("the record ends in the middle of a value", malformed(decoder, new byte[5]));
        assertEquals("a record has -1 message indexes", malformed(decoder, Messages.record(new byte[0], 1)));
    }

    @Test
    void aValueOrTypeThatDoesNotFitIsRefused() {
        FieldSpec symbol =
                new FieldSpec("a", 1, "enum", "optional", null, null, List.of(new FieldSpec.Symbol("X", 0)), List.of());
        StructType text = new StructType().add("a", DataTypes.StringType);
        MessageEncoder encoder = new MessageEncoder(text, new MessageSpec("M", List.of(0), List.of(symbol)), 1);
        InternalRow unknown = new GenericInternalRow(new Object[] {UTF8String.fromString("Y")});
        assertEquals(
                "field a: Y is not one of [X]",
                assertThrows(SchemaMismatchException.class, () -> encoder.encode(unknown))
                        .reason());
        MessageSpec number = new MessageSpec("M", List.of(0), List.of(fieldSpec("a", 1, "int32", "optional")));
        assertEquals(
                "string does not fit Protobuf's int32: field a",
                assertThrows(SchemaMismatchException.class, () -> new MessageEncoder(text, number, 1))
                        .reason());
        assertEquals(
                "the schema has no such field: b",
                assertThrows(
                                SchemaMismatchException.class,
                                () -> new MessageEncoder(new StructType().add("b", DataTypes.LongType), number, 1))
                        .reason());
    }
}
