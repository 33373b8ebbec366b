package com.lsqlrunner.delivery;

import com.lsqlrunner.fs.AtomicFile;
import com.lsqlrunner.fs.Owner;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/**
 * The name of the opening of the batch that was opened last. The records of an open batch have it in their batch
 * header. After a kill, the batch runs, and leaves out results that the records with this name have.
 *
 * <p>A checkpoint may be restored from an older copy: then the targets have records of openings that it does not know.
 * They come from later records of the sources, or from other ones, and no search may find them.
 *
 * <p>The file of the checkpoint has the text {@code <batch>.<name>}, with {@code .partial} if the batch that runs after
 * the kill does not read all records, and with {@code .kept}, which a start adds, if all results of the opening stay
 * because the program was changed.
 */
final class Openings {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BYTES = 4;
    private static final String PARTIAL = "partial";

    private final AtomicFile file;

    Openings(AtomicFile file) {
        this.file = file;
    }

    /** The name of the last opening, if it was one of this batch; else null. */
    String of(long batch) {
        List<String> parts = parts();
        return parts.size() < 2 || !parts.get(0).equals(Long.toString(batch)) ? null : parts.get(1);
    }

    /** Whether the batch that was opened last, and runs after a kill, does not read all records. */
    boolean isPartial() {
        return parts().contains(PARTIAL);
    }

    /** The batch of the last opening does not read all records. */
    void markPartial() {
        if (!isPartial()) {
            write(String.join(".", parts()) + "." + PARTIAL);
        }
    }

    /** Whether results of the last opening stay that the batch does not have. */
    boolean areKept() {
        return parts().contains("kept");
    }

    private List<String> parts() {
        byte[] content = file.read();
        return content == null ? List.of() : List.of(new String(content, StandardCharsets.UTF_8).split("\\."));
    }

    private void write(String text) {
        Owner.check();
        file.write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Opens a batch; the name of the opening. */
    String open(long batch) {
        byte[] random = new byte[BYTES];
        RANDOM.nextBytes(random);
        String name = HexFormat.of().formatHex(random);
        write(batch + "." + name);
        return name;
    }
}
