package com.lsqlrunner.topic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.common.TopicPartition;

/**
 * A file with the place of the record that is read now. If the heap is too small for the record, the JVM ends at once,
 * and the file tells the next process where. It is not synced: it has to outlive the process, not the machine.
 *
 * <p>Only one record of the JVM is read and processed at a time while there is a mark, so that no other record can be
 * the cause. One thread uses a mark.
 */
final class ReadMark implements AutoCloseable {
    private static final ReentrantLock ONE_RECORD = new ReentrantLock(true);

    /** Of the file. The name of a topic has at most 249 characters, none of which JSON has to escape. */
    private static final int SIZE = 512;

    private static final byte[] NONE = padded("{}");

    private final FileChannel file;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);
    private boolean isSet;

    /** @param path of the file, which is created if it does not exist */
    ReadMark(Path path) {
        try {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Marks the next record of a partition, from an offset. Waits until no other mark is set. */
    void set(TopicPartition partition, long offset) {
        if (!isSet) {
            ONE_RECORD.lock();
            isSet = true;
        }
        write(padded("{\"topic\":\"" + partition.topic() + "\",\"partition\":" + partition.partition() + ",\"offset\":"
                + offset + "}"));
    }

    /** Removes the mark, if it is set: the record is processed. */
    void clear() {
        if (isSet) {
            try {
                write(NONE);
            } finally {
                isSet = false;
                ONE_RECORD.unlock();
            }
        }
    }

    private void write(byte[] content) {
        try {
            file.write(buffer.clear().put(content).flip(), 0);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static byte[] padded(String json) {
        byte[] content = new byte[SIZE];
        Arrays.fill(content, (byte) ' ');
        byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, content, 0, bytes.length);
        return content;
    }

    @Override
    public void close() {
        clear();
        try {
            file.close();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
