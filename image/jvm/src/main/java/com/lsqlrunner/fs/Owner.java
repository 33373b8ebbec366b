package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The owner of the checkpoints: the process that may write them, if a Lease chooses one of several. On a volume, a line
 * in a file of the state directory names the owner; at a URI, the largest number in a folder does. A process that was
 * suspended and continues reads another owner, and ends immediately.
 *
 * <p>Comparing and writing are two steps. If a process is suspended between them, its write is harmless: an entry of a
 * log is written only if it does not exist, and files of states have unique names.
 */
@PythonEntry
public final class Owner {
    /** The exit code of a process that was replaced; {@code REPLACED} in Python. */
    private static final int REPLACED = 86;

    /** How this process is recorded as the owner. */
    sealed interface OwnerRecord permits OwnerFile, OwnerNumber {
        /**
         * Whether another process is the owner. Throws {@link com.lsqlrunner.errors.StoreException} if the store does
         * not respond.
         */
        boolean isReplaced();

        /** The interval of comparing the owner: a query without batches does not write a file for each record. */
        int checkMs();
    }

    /** A line in a file on a volume. A file that cannot be read does not count as another owner. */
    record OwnerFile(Path file, String text) implements OwnerRecord {
        @Override
        public boolean isReplaced() {
            try {
                return !Files.readString(file, StandardCharsets.UTF_8).equals(text);
            } catch (IOException unreadable) {
                return false;
            }
        }

        @Override
        public int checkMs() {
            return 500;
        }
    }

    /** The largest number in a folder at a URI; each comparison is a request. */
    record OwnerNumber(String folder, long number) implements OwnerRecord {
        @Override
        public boolean isReplaced() {
            return StateFiles.newestNumber(folder) != number;
        }

        @Override
        public int checkMs() {
            return 1000;
        }
    }

    private static volatile OwnerRecord own;

    private Owner() {}

    /** Records that this process has written the line to the file, and compares the line from now on. */
    public static void begin(String file, String text) {
        begin(new OwnerFile(Path.of(file), text));
    }

    /**
     * Records that this process has created the file with the number in the folder, and searches for a larger number
     * from now on.
     */
    public static void beginAt(String folder, long number) {
        begin(new OwnerNumber(folder, number));
    }

    private static synchronized void begin(OwnerRecord record) {
        boolean isFirst = own == null;
        own = record;
        if (isFirst) {
            Thread watch = new Thread(Owner::watch, "owner");
            watch.setDaemon(true);
            watch.start();
        }
    }

    /**
     * Ends the process if another one is the owner. Does nothing without a Lease. Called before a file is replaced that
     * another owner may have written.
     *
     * @throws com.lsqlrunner.errors.StoreException the store does not respond
     */
    public static void check() {
        OwnerRecord record = own;
        if (record != null && record.isReplaced()) {
            Runtime.getRuntime().halt(REPLACED);
        }
    }

    /**
     * As {@link #check} on a volume, where it costs little. Does nothing at a URI, where the store refuses to overwrite
     * a file.
     */
    public static void checkOnVolume() {
        if (own instanceof OwnerFile) {
            check();
        }
    }

    private static void watch() {
        try {
            while (true) {
                Thread.sleep(own.checkMs());
                try {
                    check();
                } catch (RuntimeException unknown) {
                    // the next comparison may succeed
                }
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
