package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import org.apache.hadoop.fs.LocalFileSystem;

/**
 * {@link DurableFileSystem} as a {@link LocalFileSystem}, which connectors of stores expect for their temporary files.
 * Hadoop's own one would start child processes.
 */
@PythonEntry
public final class ConnectorLocalFileSystem extends LocalFileSystem {
    /** Hadoop calls it by reflection. */
    public ConnectorLocalFileSystem() {
        super(new DurableFileSystem());
    }
}
