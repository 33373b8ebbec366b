package com.lsqlrunner.fs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A small file of a checkpoint, on a volume or at a URI. After a crash it has the old or the new content. */
public interface AtomicFile {
    /** The content; null if there is no file. */
    byte[] read();

    /** Replaces the content. */
    void write(byte[] content);

    /** The file at a path of this machine, or at a URI. */
    static AtomicFile at(String location) {
        return StateFiles.isUri(location) ? new StoredFile(location) : new LocalFile(Path.of(location));
    }

    /** A file at a URI. */
    record StoredFile(String location) implements AtomicFile {
        @Override
        public byte[] read() {
            return StateFiles.read(location);
        }

        @Override
        public void write(byte[] content) {
            StateFiles.write(location, content);
        }
    }

    /** A file on a volume that is mounted. */
    record LocalFile(Path file) implements AtomicFile {
        @Override
        public byte[] read() {
            try {
                return Files.readAllBytes(file);
            } catch (NoSuchFileException isNew) {
                return null;
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }

        @Override
        public void write(byte[] content) {
            Path fresh = file.resolveSibling(file.getFileName() + ".new");
            try {
                Files.createDirectories(file.getParent());
                try (FileChannel channel = FileChannel.open(
                        fresh,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE,
                        StandardOpenOption.TRUNCATE_EXISTING)) {
                    ByteBuffer bytes = ByteBuffer.wrap(content);
                    while (bytes.hasRemaining()) {
                        channel.write(bytes);
                    }
                    channel.force(true);
                }
                Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
                try (FileChannel folder = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
                    folder.force(true); // the name of the first file
                }
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }
}
