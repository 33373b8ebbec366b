package com.lsqlrunner.protobuf;

import com.lsqlrunner.errors.MalformedRecordException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.spark.sql.types.StructType;

/** Records in the wire format of a registry to the values of one message. Not shared. */
final class RecordReader {
    /** A zero, then the id as four bytes. */
    static final int HEADER = 5;

    /** What stands behind the header for the first message of a file. */
    private static final List<Integer> FIRST = List.of(0);

    private static final int DEEPEST = 64;

    private final String name;
    private final MessageReader reader;
    private final IntFunction<String> files;
    private final Map<Integer, Map<List<Integer>, String>> known = new HashMap<>();
    private final ProtobufBytes in = new ProtobufBytes();
    private int lastFirst = -1;

    /**
     * @param files the text of the file that an id stands for; throws {@link MalformedRecordException} where there is
     *     none
     */
    RecordReader(MessageSpec message, StructType wanted, IntFunction<String> files) {
        name = message.name();
        reader = new MessageReader(message.fields(), "message", wanted, "");
        this.files = files;
    }

    /**
     * The value of a record.
     *
     * @throws MalformedRecordException the bytes are no such record
     */
    Object read(byte[] record) {
        if (record.length < HEADER) {
            throw new MalformedRecordException("%d bytes are too few for a schema id".formatted(record.length));
        }
        if (record[0] != 0) {
            throw new MalformedRecordException("the first byte is %d, not 0".formatted(record[0]));
        }
        int id = ByteBuffer.wrap(record).getInt(1);
        in.start(record, HEADER);
        List<Integer> place = readPlace();
        if (place != FIRST || id != lastFirst) {
            check(id, place);
        }
        Object[] values = reader.empty();
        reader.read(in, values);
        return reader.finished(values);
    }

    private List<Integer> readPlace() {
        long count = ProtobufBytes.fromZigzag(in.readVarint());
        if (count == 0) {
            return FIRST;
        }
        if (count < 0 || count > DEEPEST) {
            throw new MalformedRecordException("a message cannot be %d messages deep".formatted(count));
        }
        List<Integer> place = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            place.add((int) ProtobufBytes.fromZigzag(in.readVarint()));
        }
        return place;
    }

    private void check(int id, List<Integer> place) {
        String found = known.computeIfAbsent(id, one -> MessageNames.of(files.apply(one)))
                .get(place);
        if (found == null) {
            throw new MalformedRecordException("schema %d has no message at %s".formatted(id, place));
        }
        if (!found.equals(name)) {
            throw new MalformedRecordException("the message is %s, not %s".formatted(found, name));
        }
        if (place == FIRST) {
            lastFirst = id;
        }
    }
}
