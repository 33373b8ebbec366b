package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FsConstants;

/** {@link DurableFileSystem} for Hadoop's newer interface, which Spark uses to write checkpoints. */
@PythonEntry
public final class DurableFs extends DelegateToFileSystem {
    /** Hadoop calls it by reflection. */
    public DurableFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
        super(uri, new DurableFileSystem(), conf, FsConstants.LOCAL_FS_URI.getScheme(), false);
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
