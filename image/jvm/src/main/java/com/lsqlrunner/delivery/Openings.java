package com.lsqlrunner.delivery;

import com.lsqlrunner.fs.AtomicFile;
import com.lsqlrunner.fs.Owner;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The name of the opening of the batch that was opened last. The records of an open batch have it in their batch
 * header. After a kill, the batch runs, and leaves out results that the records with this name have.
 *
 * <p>A checkpoint may be restored from an older copy: then the targets have records of openings that it does not know.
 * They come from later records of the sources, or from other ones, and no search may find them.
 *
 * <p>The file of the checkpoint has the text {@code <batch>.<name>}.
 */
final class Openings {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BYTES = 4;

    private final AtomicFile file;

    Openings(AtomicFile file) {
        this.file = file;
    }

    /** The name of the last opening, if it was one of this batch; else null. */
    String of(long batch) {
        byte[] content = file.read();
        String[] parts = content == null ? new String[0] : new String(content, StandardCharsets.UTF_8).split("\\.");
        return parts.length < 2 || !parts[0].equals(Long.toString(batch)) ? null : parts[1];
    }

    /** Opens a batch; the name of the opening. */
    String open(long batch) {
        byte[] random = new byte[BYTES];
        RANDOM.nextBytes(random);
        String name = HexFormat.of().formatHex(random);
        Owner.check();
        file.write((batch + "." + name).getBytes(StandardCharsets.UTF_8));
        return name;
    }
}
