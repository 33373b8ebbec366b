package com.lsqlrunner.fs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.errors.StoreException;
import com.lsqlrunner.errors.Unchecked;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.spark.SparkContext$;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager$;
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream;

/**
 * Files at a URI, which Python and this module read and write beside Spark, in the same way: with Spark's manager of
 * checkpoint files, and the settings of the session.
 *
 * <p>The methods on files throw {@link StoreException}.
 */
@PythonEntry
public final class StateFiles {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Requests to a store at the same time: it answers each after some milliseconds. */
    private static final int COPIERS = 8;

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    private StateFiles() {}

    /** Whether a location is a URI, and not a path of this machine. */
    public static boolean isUri(String location) {
        return location.contains("://");
    }

    /** The content of a file; null if it does not exist. */
    public static byte[] read(String file) {
        return StoreException.orThrow(() -> {
            try (FSDataInputStream in = manager(file).open(new Path(file))) {
                return in.readAllBytes();
            } catch (FileNotFoundException missing) {
                return null;
            }
        });
    }

    /** Writes a file atomically. */
    public static void write(String file, byte[] content) {
        StoreException.orThrow(() -> {
            put(file, content, true);
            return null;
        });
    }

    /** Creates a file; returns false if it exists. If several processes create the same file, one succeeds. */
    public static boolean create(String file, byte[] content) {
        return StoreException.orThrow(() -> {
            try {
                put(file, content, false);
                return true;
            } catch (FileAlreadyExistsException exists) {
                return false;
            }
        });
    }

    private static void put(String file, byte[] content, boolean overwrites) throws IOException {
        CheckpointFileManager manager = manager(file);
        if (!(manager instanceof ConditionalFileManager)) { // a store of objects has no folders
            manager.mkdirs(new Path(file).getParent());
        }
        CancellableFSDataOutputStream out = manager.createAtomic(new Path(file), overwrites);
        try {
            out.write(content);
        } catch (IOException failed) {
            out.cancel();
            throw failed;
        }
        out.close();
    }

    /** Deletes a file or a folder with everything in it; it may not exist. */
    public static void delete(String path) {
        StoreException.orThrow(() -> {
            manager(path).delete(new Path(path));
            return null;
        });
    }

    /** The names of the files and of the folders in a folder, as a JSON array of two arrays. */
    public static String list(String folder) {
        return StoreException.orThrow(() -> {
            List<List<String>> names = List.of(new ArrayList<>(), new ArrayList<>());
            try {
                for (FileStatus each : files(folder).listStatus(new Path(folder))) {
                    names.get(each.isDirectory() ? 1 : 0).add(each.getPath().getName());
                }
            } catch (FileNotFoundException missing) {
                // it is empty
            }
            return json(names);
        });
    }

    /** The largest number among the names of files in a folder; 0 if there is none. */
    public static long newestNumber(String folder) {
        return StoreException.orThrow(() -> {
            long newest = 0;
            try {
                for (FileStatus each : files(folder).listStatus(new Path(folder))) {
                    String name = each.getPath().getName();
                    if (NUMBER.matcher(name).matches()) {
                        newest = Math.max(newest, Long.parseLong(name));
                    }
                }
            } catch (FileNotFoundException missing) {
                // it is empty
            }
            return newest;
        });
    }

    /** All files in a folder and in folders in it, as a JSON object: by path from here, the size in bytes. */
    public static String listAll(String folder) {
        return StoreException.orThrow(() -> {
            Map<String, Long> sizes = new TreeMap<>();
            try {
                FileSystem store = files(folder);
                int prefix =
                        store.makeQualified(new Path(folder)).toUri().getPath().length() + 1;
                RemoteIterator<LocatedFileStatus> files = store.listFiles(new Path(folder), true);
                while (files.hasNext()) {
                    LocatedFileStatus file = files.next();
                    sizes.put(file.getPath().toUri().getPath().substring(prefix), file.getLen());
                }
            } catch (FileNotFoundException missing) {
                // it is empty
            }
            return json(sizes);
        });
    }

    /** Copies a folder to one that does not exist. */
    public static void copy(String source, String target) {
        StoreException.orThrow(() -> {
            FileSystem store = files(source);
            FileUtil.copy(store, new Path(source), store, new Path(target), false, conf());
            return null;
        });
    }

    /** Copies files of a folder, by their paths from there, to another one. Files that do not exist are left out. */
    public static void copyFiles(String source, String target, List<String> paths) {
        StoreException.orThrow(() -> {
            FileSystem store = files(source);
            ExecutorService threads = Executors.newFixedThreadPool(COPIERS);
            try {
                for (Future<?> copied : threads.invokeAll(paths.stream()
                        .map(path -> copier(store, new Path(source, path), new Path(target, path)))
                        .toList())) {
                    copied.get();
                }
            } catch (ExecutionException failed) {
                throw failed.getCause() instanceof IOException refused ? refused : new IOException(failed.getCause());
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException();
            } finally {
                threads.shutdownNow();
            }
            return null;
        });
    }

    private static Callable<Void> copier(FileSystem store, Path source, Path target) {
        return () -> {
            try {
                FileUtil.copy(store, source, store, target, false, conf());
            } catch (FileNotFoundException deleted) {
                // a query that runs has deleted it
            }
            return null;
        };
    }

    private static CheckpointFileManager manager(String path) {
        return CheckpointFileManager$.MODULE$.create(new Path(path), conf());
    }

    private static FileSystem files(String path) throws IOException {
        return new Path(path).getFileSystem(conf());
    }

    private static Configuration conf() {
        return SparkContext$.MODULE$.getActive().get().hadoopConfiguration();
    }

    private static String json(Object value) {
        try {
            return JSON.writeValueAsString(value);
        } catch (JsonProcessingException impossible) {
            throw Unchecked.thrown(impossible);
        }
    }
}
