package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The process that may write the checkpoints, if a Lease chooses it among several. On a volume it is named by the line
 * in a file of the state directory, at a URI by the largest number in a folder. A process that was suspended and
 * continues finds another one, and ends at once.
 *
 * <p>Comparing and writing are two steps. What a process writes between them when it was suspended there does no harm:
 * an entry of a log is written only if it does not exist, and the names of files of states are unique.
 */
@PythonEntry
public final class Owner {
    /** The exit code of a process that was replaced; {@code REPLACED} in Python. */
    private static final int REPLACED = 86;

    /** How this process is recorded as the owner. */
    sealed interface OwnerRecord permits OwnerFile, OwnerNumber {
        /**
         * Whether another process is the owner; {@link com.lsqlrunner.errors.StoreException} if a store does not tell.
         */
        boolean isReplaced();

        /** How often this is compared: a query without batches writes records without a file for each. */
        int checkMs();
    }

    /** A line in a file on a volume. A file that cannot be read tells nothing. */
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

    /** This process has written the line to the file, and compares it from now on. */
    public static void begin(String file, String text) {
        begin(new OwnerFile(Path.of(file), text));
    }

    /** This process has created the file with the number in the folder, and looks for a larger one from now on. */
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
     * Ends the process if another one is the owner. Does nothing without a Lease. For what replaces a file, and would
     * replace that of another owner.
     *
     * @throws com.lsqlrunner.errors.StoreException the store does not tell it
     */
    public static void check() {
        OwnerRecord found = own;
        if (found != null && found.isReplaced()) {
            Runtime.getRuntime().halt(REPLACED);
        }
    }

    /** As {@link #check}, on a volume, where it costs little. At a URI, the store refuses a file that exists. */
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
