package com.lsqlrunner.marks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.apache.kafka.common.TopicPartition;

/** A mark in a file, for the next process. The file is not synced: it has to outlive the process, not the machine. */
public final class FileMark extends ReadMark {
    /** The size of the file. The name of a topic has at most 249 characters, none of which JSON has to escape. */
    private static final int SIZE = 512;

    private static final byte[] NONE = padded("{}");

    private final FileChannel file;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(SIZE);

    public FileMark(Path path) {
        try {
            file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    @Override
    void write(TopicPartition partition, long offset) {
        write(padded("{\"topic\":\"" + partition.topic() + "\",\"partition\":" + partition.partition() + ",\"offset\":"
                + offset + "}"));
    }

    @Override
    void remove() {
        write(NONE);
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
        super.close();
        try {
            file.close();
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
