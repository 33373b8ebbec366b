package com.lsqlrunner.delivery;

import com.lsqlrunner.fs.AtomicFile;
import com.lsqlrunner.fs.Owner;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * The name of the opening of the batch that was opened last. The records of an open batch have it in their batch
 * header. After a kill, the same batch is opened again with the same name, and leaves out the records with this name.
 *
 * <p>A checkpoint may be restored from an older copy: then the targets have records of openings that it does not know.
 * They come from later records of the sources, or from other ones, and no search may find them.
 *
 * <p>The file of the checkpoint has the text {@code <batch>.<name>}, or {@code <batch>.<name>.closed} when all records
 * of the opening are committed and the batch can be planned.
 */
final class Openings {
    /**
     * The opening of a batch.
     *
     * @param isClosed whether all its records are committed
     */
    record Opening(String name, boolean isClosed) {}

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int BYTES = 4;
    private static final String CLOSED = ".closed";

    private final AtomicFile file;

    Openings(AtomicFile file) {
        this.file = file;
    }

    /** The last opening, if it was one of this batch; else null. */
    Opening of(long batch) {
        byte[] content = file.read();
        String[] parts = content == null ? new String[0] : new String(content, StandardCharsets.UTF_8).split("\\.");
        return parts.length < 2 || !parts[0].equals(Long.toString(batch))
                ? null
                : new Opening(parts[1], parts.length > 2);
    }

    /** Opens a batch, which may have been opened before; the name of the opening. */
    String open(long batch) {
        Opening before = of(batch);
        if (before != null) {
            return before.name;
        }
        byte[] random = new byte[BYTES];
        RANDOM.nextBytes(random);
        String name = HexFormat.of().formatHex(random);
        write(batch + "." + name);
        return name;
    }

    /** The opening is not closed any more: the batch is opened again before Spark plans it. */
    void reopen(long batch) {
        write(batch + "." + of(batch).name);
    }

    /** All records of the open batch are committed. */
    void close(long batch) {
        write(batch + "." + of(batch).name + CLOSED);
    }

    private void write(String text) {
        Owner.check();
        file.write(text.getBytes(StandardCharsets.UTF_8));
    }
}
