package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.spark.sql.types.StructType;

/** Decodes records in the wire format of a registry to values of one message. Not thread-safe. */
final class MessageDecoder {
    /** A zero byte, then the schema id as four bytes. */
    static final int HEADER_BYTES = 5;

    /** The indexes of the first message of a file, which a record encodes as a single 0. */
    private static final List<Integer> FIRST = List.of(0);

    private static final int MAX_INDEXES = 64;

    private final String name;
    private final MessageReader reader;
    private final IntFunction<String> files;
    private final Map<Integer, Map<List<Integer>, String>> messageNames = new HashMap<>();
    private final ProtobufInput in = new ProtobufInput();
    private int checkedId = -1;

    /**
     * @param files returns the text of the file of a schema id; throws {@link MalformedRecordException} for an unknown
     *     id
     */
    MessageDecoder(MessageSpec message, StructType type, IntFunction<String> files) {
        name = message.name();
        reader = new MessageReader(message.fields(), "message", type);
        this.files = files;
    }

    /**
     * The value of a record.
     *
     * @throws MalformedRecordException the bytes are not a valid record
     */
    Object read(byte[] record) {
        if (record.length < HEADER_BYTES) {
            throw new MalformedRecordException("%d bytes are too few for a schema id".formatted(record.length));
        }
        if (record[0] != 0) {
            throw new MalformedRecordException(
                    ShownValue.choose("the first byte is %d, not 0".formatted(record[0]), "the first byte is not 0"));
        }
        int id = ByteBuffer.wrap(record).getInt(1);
        in.start(record, HEADER_BYTES);
        List<Integer> indexes = readIndexes();
        if (indexes != FIRST || id != checkedId) {
            checkMessage(id, indexes);
        }
        Object[] values = reader.empty(in);
        reader.read(in, values);
        return reader.result(values);
    }

    private List<Integer> readIndexes() {
        long count = ProtobufInput.fromZigzag(in.readVarint());
        if (count == 0) {
            return FIRST;
        }
        if (count < 0 || count > MAX_INDEXES) {
            throw new MalformedRecordException("a record has %d message indexes".formatted(count));
        }
        List<Integer> indexes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            indexes.add((int) ProtobufInput.fromZigzag(in.readVarint()));
        }
        return indexes;
    }

    private void checkMessage(int id, List<Integer> indexes) {
        String message = messageNames
                .computeIfAbsent(id, newId -> MessageNames.of(files.apply(newId)))
                .get(indexes);
        if (message == null) {
            throw new MalformedRecordException("schema %d has no message with the indexes %s".formatted(id, indexes));
        }
        if (!message.equals(name)) {
            throw new MalformedRecordException("the message is %s, not %s".formatted(message, name));
        }
        if (indexes == FIRST) {
            checkedId = id;
        }
    }
}
