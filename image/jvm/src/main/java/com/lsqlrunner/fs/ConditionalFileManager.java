package com.lsqlrunner.fs;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.errors.Unchecked;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateFileOptionKeys;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.io.IOUtils;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;

/**
 * Checkpoints in a store without rename, such as S3: a file becomes visible when it is closed, and the store refuses to
 * overwrite a file ({@code If-None-Match}). Spark's own implementations rename files, or check before they write, so
 * two processes could both write the same entry of a log.
 */
@PythonEntry
public final class ConditionalFileManager implements CheckpointFileManager {
    /** S3A asks neither whether the name is a folder nor whether its parent is a file: names in checkpoints are not. */
    private static final String WITHOUT_REQUESTS = "fs.s3a.create.performance";

    private final Path folder;
    private final FileSystem store;

    /** Spark calls it by reflection. */
    public ConditionalFileManager(Path folder, Configuration conf) throws IOException {
        this.folder = folder;
        this.store = folder.getFileSystem(conf);
    }

    @Override
    public CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
        try {
            FSDataOutputStreamBuilder<?, ?> builder =
                    store.createFile(path).recursive().overwrite(true);
            builder.opt(WITHOUT_REQUESTS, true);
            if (!overwriteIfPossible) {
                builder.must(CreateFileOptionKeys.FS_OPTION_CREATE_CONDITIONAL_OVERWRITE, true);
            }
            return new Upload(builder.build(), path, overwriteIfPossible);
        } catch (IOException failed) {
            throw Unchecked.thrown(failed);
        }
    }

    @Override
    public FSDataInputStream open(Path path) {
        try {
            return store.open(path);
        } catch (IOException failed) {
            throw Unchecked.thrown(failed);
        }
    }

    @Override
    public FileStatus[] list(Path path, PathFilter filter) {
        try {
            return store.listStatus(path, filter);
        } catch (IOException failed) {
            throw Unchecked.thrown(failed);
        }
    }

    @Override
    public boolean exists(Path path) {
        try {
            return store.exists(path);
        } catch (IOException failed) {
            throw Unchecked.thrown(failed);
        }
    }

    @Override
    public void delete(Path path) {
        try {
            store.delete(path, true);
        } catch (FileNotFoundException isDeleted) {
            // as the caller wants it
        } catch (IOException failed) {
            throw Unchecked.thrown(failed);
        }
    }

    @Override
    public void mkdirs(Path path) {
        try {
            store.mkdirs(path);
        } catch (IOException failed) {
            throw Unchecked.thrown(failed);
        }
    }

    @Override
    public Path createCheckpointDirectory() {
        Path qualified = store.makeQualified(folder);
        mkdirs(qualified);
        return qualified;
    }

    @Override
    public boolean isLocal() {
        return false;
    }

    private final class Upload extends CancellableFSDataOutputStream {
        private final FSDataOutputStream out;
        private final Path path;
        private final boolean overwrites;
        private boolean ended;

        Upload(FSDataOutputStream out, Path path, boolean overwrites) {
            super(out);
            this.out = out;
            this.path = path;
            this.overwrites = overwrites;
        }

        @Override
        public synchronized void close() throws IOException {
            if (ended) {
                return;
            }
            ended = true;
            try {
                out.close();
            } catch (InterruptedIOException stopped) {
                throw stopped;
            } catch (IOException failed) {
                if (!overwrites && store.exists(path)) {
                    throw new FileAlreadyExistsException(path + " already exists");
                }
                throw failed;
            }
        }

        @Override
        public synchronized void cancel() {
            if (!ended) {
                ended = true;
                out.abort();
                IOUtils.closeStream(out);
            }
        }
    }
}
