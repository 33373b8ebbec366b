package com.lsqlrunner.fs;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Set;

/**
 * Renames a file to a name that does not exist. If several processes rename files to the same name, only one succeeds:
 * link(2), which refuses an existing name, gives the file its second name, and then the first name is removed.
 *
 * <p>On a file system without hard links, the name is checked before the file is renamed. Then two processes may both
 * succeed, and the file of the second process remains.
 */
final class ExclusiveRename {
    /** Gives a file a second name, as {@link Files#createLink} does. */
    @FunctionalInterface
    interface Link {
        void create(Path name, Path file) throws IOException;
    }

    /** The texts of EPERM, which link(2) returns on such a file system, EOPNOTSUPP and ENOSYS. */
    private static final Set<String> UNSUPPORTED =
            Set.of("Operation not permitted", "Operation not supported", "Function not implemented");

    private final Link link;

    ExclusiveRename(Link link) {
        this.link = link;
    }

    /**
     * Renames a file.
     *
     * @throws FileAlreadyExistsException the target exists
     * @throws NoSuchFileException the source does not exist
     */
    void rename(Path source, Path target) throws IOException {
        try {
            link.create(target, source);
        } catch (FileAlreadyExistsException exists) {
            if (!Files.isSameFile(source, target)) {
                throw exists;
            }
            // The server got the request twice, and its first response was lost.
        } catch (UnsupportedOperationException unsupported) {
            renameIfMissing(source, target);
            return;
        } catch (FileSystemException error) {
            if (!isUnsupported(error)) {
                throw error;
            }
            renameIfMissing(source, target);
            return;
        }
        Files.delete(source);
    }

    /** Other errors, for example of a full volume or of a server that does not answer, say nothing about links. */
    private static boolean isUnsupported(FileSystemException error) {
        return error.getClass() == FileSystemException.class && UNSUPPORTED.contains(String.valueOf(error.getReason()));
    }

    private static void renameIfMissing(Path source, Path target) throws IOException {
        if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    }
}
