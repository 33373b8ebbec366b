package com.lsqlrunner.protobuf;

import static com.lsqlrunner.bytes.HostileRecord.TOO_DEEP;
import static com.lsqlrunner.bytes.HostileRecord.TOO_MANY;
import static com.lsqlrunner.bytes.HostileRecord.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.junit.jupiter.api.Test;

/** Messages of some bytes that claim many values, or groups nested in one another. */
final class HostileProtobufTest {
    private static final List<FieldSpec> WIDE = IntStream.rangeClosed(1, 200)
            .mapToObj(number ->
                    new FieldSpec("f" + number, number, "int64", "optional", null, null, List.of(), List.of()))
            .toList();
    private static final List<FieldSpec> FIELDS = List.of(
            new FieldSpec("items", 1, "message", "repeated", null, null, List.of(), WIDE),
            new FieldSpec("entries", 2, "message", "map", null, "int64", List.of(), WIDE),
            new FieldSpec("numbers", 3, "int64", "repeated", null, null, List.of(), List.of()));

    private final MessageDecoder decoder =
            new MessageDecoder(new MessageSpec("M", List.of(0), FIELDS), Messages.type(FIELDS), id -> Messages.FILE);

    /** A message that consists of the same two bytes: a field of length 0. */
    private static byte[] empties(int number, int count) {
        byte[] message = new byte[2 * count];
        for (int i = 0; i < count; i++) {
            message[2 * i] = (byte) (number << 3 | WireType.LENGTH);
        }
        return Messages.record(message);
    }

    @Test
    void theFieldsOfEmptyMessagesAreCounted() {
        assertRefused("field items[10381]: " + TOO_MANY.formatted(32), () -> decoder.read(empties(1, 200_000)));
        assertRefused("field entries: " + TOO_MANY.formatted(32), () -> decoder.read(empties(2, 200_000)));
    }

    @Test
    void aMessageWhoseValuesHaveAByteEachIsReadWhateverItsSize() {
        byte[] message = new byte[5 + 2_000_000];
        message[0] = 3 << 3 | WireType.LENGTH;
        int length = 2_000_000;
        for (int i = 1; i < 5; i++, length >>>= 7) {
            message[i] = (byte) (length & 0x7F | (i < 4 ? 0x80 : 0));
        }

        InternalRow row = (InternalRow) decoder.read(Messages.record(message));

        assertEquals(2_000_000, row.getArray(2).numElements());
    }

    @Test
    void groupsMayBeNested500LevelsDeep() {
        byte[] deep = new byte[5_000_000];
        Arrays.fill(deep, (byte) (4 << 3 | WireType.START_GROUP));

        assertRefused("field #4: " + TOO_DEEP, () -> decoder.read(Messages.record(deep)));
    }
}
