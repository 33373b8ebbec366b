package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system for checkpoints. It starts no child processes, and its files survive a crash of the
 * machine.
 *
 * <p>Without its native library, Hadoop runs {@code chmod} and {@code readlink} as processes: about fifty for one
 * micro-batch with state. It also lets the kernel decide when a file reaches the disk, so files of a checkpoint may be
 * empty after a power failure. This class writes the content of a file to the disk when the file is closed, and its
 * name when it is renamed.
 */
@PythonEntry
public final class DurableFileSystem extends RawLocalFileSystem {
    private static final int PERMISSION_BITS = 0777;
    private static final ExclusiveRename EXCLUSIVE = new ExclusiveRename(Files::createLink);

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
        FsPermission plain = new FsPermission((short) (permission.toShort() & PERMISSION_BITS));
        Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(plain.toString()));
    }

    /** Follows links, like all other methods: a checkpoint contains no links. */
    @Override
    public FileStatus getFileLinkStatus(Path path) throws IOException {
        return getFileStatus(path);
    }

    @Override
    protected OutputStream createOutputStream(Path path, boolean append) throws IOException {
        return createOutputStreamWithMode(path, append, null);
    }

    @Override
    protected OutputStream createOutputStreamWithMode(Path path, boolean append, FsPermission permission)
            throws IOException {
        OutputStream out = new DurableOutputStream(pathToFile(path), append);
        if (permission != null) {
            setPermission(path, permission);
        }
        return out;
    }

    @Override
    public boolean rename(Path source, Path target) throws IOException {
        boolean done = super.rename(source, target);
        if (done) {
            syncFolder(target);
        }
        return done;
    }

    /**
     * Renames a file to a name that does not exist.
     *
     * @throws FileAlreadyExistsException the target exists, or another process has just created it
     */
    void renameExclusively(Path source, Path target) throws IOException {
        try {
            EXCLUSIVE.rename(pathToFile(source).toPath(), pathToFile(target).toPath());
        } catch (java.nio.file.FileAlreadyExistsException error) {
            throw new FileAlreadyExistsException("rename destination " + target + " already exists");
        } catch (NoSuchFileException error) {
            throw new FileNotFoundException("rename source " + source + " not found");
        }
        syncFolder(target);
    }

    private void syncFolder(Path file) throws IOException {
        try (FileChannel folder = FileChannel.open(pathToFile(file).toPath().getParent(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    /**
     * Hadoop's implementation works only for its own class of local files. Snapshots of a state store are copied by
     * this method.
     */
    @Override
    public void copyFromLocalFile(boolean deleteSource, boolean overwrite, Path source, Path target)
            throws IOException {
        FileUtil.copy(this, source, this, target, deleteSource, overwrite, getConf());
    }

    @Override
    public void copyToLocalFile(boolean deleteSource, Path source, Path target, boolean raw) throws IOException {
        FileUtil.copy(this, source, this, target, deleteSource, getConf());
    }

    private static final class DurableOutputStream extends FileOutputStream {
        DurableOutputStream(File file, boolean append) throws IOException {
            super(file, append);
        }

        @Override
        public void close() throws IOException {
            if (getFD().valid()) {
                getFD().sync();
            }
            super.close();
        }
    }
}
