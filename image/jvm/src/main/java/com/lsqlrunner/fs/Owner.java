package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The process that may write the checkpoints, if a Lease chooses it among several: the line in a file of the state
 * directory. A process that was suspended and continues finds the line of another one, and ends at once.
 *
 * <p>Comparing and writing are two steps. What a process writes between them when it was suspended there does no harm:
 * an entry of a log is written only if it does not exist, and the names of files of states are unique.
 */
@PythonEntry
public final class Owner {
    /** The exit code of a process that was replaced; {@code REPLACED} in Python. */
    private static final int REPLACED = 86;

    /** A query without batches writes records without a file for each. */
    private static final int CHECK_MS = 500;

    private record Line(Path file, String text) {}

    private static volatile Line line;

    private Owner() {}

    /** This process has written the line to the file, and compares it from now on. */
    public static synchronized void begin(String file, String text) {
        boolean isFirst = line == null;
        line = new Line(Path.of(file), text);
        if (isFirst) {
            Thread watch = new Thread(Owner::watch, "owner");
            watch.setDaemon(true);
            watch.start();
        }
    }

    /** Ends the process if the file has another line. Does nothing without a Lease, and if the file cannot be read. */
    public static void check() {
        Line own = line;
        if (own != null && isReplaced(own.file, own.text)) {
            Runtime.getRuntime().halt(REPLACED);
        }
    }

    static boolean isReplaced(Path file, String text) {
        try {
            return !Files.readString(file, StandardCharsets.UTF_8).equals(text);
        } catch (IOException unreadable) {
            return false;
        }
    }

    private static void watch() {
        try {
            while (true) {
                Thread.sleep(CHECK_MS);
                check();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
