package com.lsqlrunner.fs;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Renames a file to a name that does not exist. Of several processes that rename to the same name, one succeeds: the
 * file gets the second name with link(2), which refuses an existing name, and then loses the first one.
 *
 * <p>On a file system without hard links, the name is checked before the file is renamed. Then two processes may both
 * succeed, and the file of the second one remains.
 */
final class ExclusiveRename {
    /** Gives a file a second name, as {@link Files#createLink} does. */
    @FunctionalInterface
    interface Link {
        void create(Path name, Path file) throws IOException;
    }

    private final Link link;

    ExclusiveRename(Link link) {
        this.link = link;
    }

    /**
     * Renames a file.
     *
     * @throws FileAlreadyExistsException the target exists
     */
    void rename(Path source, Path target) throws IOException {
        try {
            link.create(target, source);
        } catch (FileAlreadyExistsException | NoSuchFileException error) {
            throw error;
        } catch (UnsupportedOperationException | FileSystemException error) { // no hard links here
            renameIfMissing(source, target);
            return;
        }
        Files.delete(source);
    }

    private static void renameIfMissing(Path source, Path target) throws IOException {
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    }
}
