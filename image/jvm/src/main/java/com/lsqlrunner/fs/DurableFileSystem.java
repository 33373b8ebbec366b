package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local file system for checkpoints: no child processes, and what is written outlives a crash of the machine.
 *
 * <p>Hadoop without its native library runs {@code chmod} and {@code readlink} as programs: about fifty of them for one
 * micro-batch with state. It also leaves it to the kernel when a file reaches the disk, so that after a loss of power a
 * checkpoint may be there and empty. Here a file is on the disk once it is closed, and its name once it is renamed.
 */
@PythonEntry
public final class DurableFileSystem extends RawLocalFileSystem {
    private static final int PERMISSION_BITS = 0777;

    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
        FsPermission plain = new FsPermission((short) (permission.toShort() & PERMISSION_BITS));
        Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(plain.toString()));
    }

    /** Links are followed, as all other methods do: nobody makes links inside a checkpoint. */
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
            try (FileChannel folder =
                    FileChannel.open(pathToFile(target).toPath().getParent(), StandardOpenOption.READ)) {
                folder.force(true);
            }
        }
        return done;
    }

    /** Hadoop's own takes "local" for a class that this one is not; a state store's snapshots are copied so. */
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
