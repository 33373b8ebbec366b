package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.Path;

/** {@link DurableFileSystem} for Hadoop's newer interface, which Spark uses to write checkpoints. */
@PythonEntry
public final class DurableFs extends DelegateToFileSystem {
    private final DurableFileSystem files;

    /** Hadoop calls it by reflection. */
    public DurableFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
        this(uri, conf, new DurableFileSystem());
    }

    private DurableFs(URI uri, Configuration conf, DurableFileSystem files) throws IOException, URISyntaxException {
        super(uri, files, conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
        this.files = files;
    }

    /**
     * Hadoop's implementation checks whether the target exists, and then renames: two JVMs that write the same entry of
     * a log could both succeed.
     *
     * <p>A file of a checkpoint, such as the plan of a batch, its end and its changes of states, is written under
     * another name and then renamed.
     */
    @Override
    public void renameInternal(Path source, Path target, boolean overwrite) throws IOException {
        Owner.checkOnVolume();
        if (overwrite || files.getFileStatus(source).isDirectory()) {
            super.renameInternal(source, target, overwrite);
        } else {
            files.renameExclusively(source, target);
        }
    }

    @Override
    public int getUriDefaultPort() {
        return -1;
    }

    /** All names are valid: the kernel refuses names that it cannot store. */
    @Override
    public boolean isValidName(String name) {
        return true;
    }
}
