package com.lsqlrunner.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The calls that Spark makes for a checkpoint: it writes a file under a temporary name and then renames it. */
class DurableFsTest {
    @TempDir
    java.nio.file.Path folder;

    private FileContext files;

    @BeforeEach
    void open() throws Exception {
        Configuration conf = new Configuration(false);
        conf.set("fs.AbstractFileSystem.file.impl", DurableFs.class.getName());
        conf.set("fs.file.impl", DurableFileSystem.class.getName());
        conf.setBoolean("fs.file.impl.disable.cache", true);
        files = FileContext.getFileContext(folder.toUri(), conf);
        assertEquals(
                DurableFileSystem.class, FileSystem.get(folder.toUri(), conf).getClass());
    }

    @Test
    void aSnapshotOfAStateStoreIsCopiedInBothDirections() throws Exception {
        Configuration conf = new Configuration(false);
        conf.set("fs.file.impl", DurableFileSystem.class.getName());
        try (FileSystem fileSystem = FileSystem.newInstance(folder.toUri(), conf)) {
            Files.writeString(folder.resolve("000008.sst"), "rows");

            fileSystem.copyFromLocalFile(path("000008.sst"), path("state/SSTs/000008.sst"));
            fileSystem.copyToLocalFile(path("state/SSTs/000008.sst"), path("local/000008.sst"));
        }

        assertEquals("rows", Files.readString(folder.resolve("state/SSTs/000008.sst")));
        assertEquals("rows", Files.readString(folder.resolve("local/000008.sst")));
        assertTrue(Files.exists(folder.resolve("000008.sst")));
    }

    private Path path(String name) {
        return new Path(folder.resolve(name).toUri());
    }

    private void write(String name, String text) throws Exception {
        try (FSDataOutputStream out = files.create(
                path(name), EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE), CreateOpts.createParent())) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void aRenamedFileIsTheOnlyFileOfItsFolder() throws Exception {
        write("offsets/.0.tmp", "v1");
        files.rename(path("offsets/.0.tmp"), path("offsets/0"));

        assertEquals("v1", Files.readString(folder.resolve("offsets/0")));
        try (var names = Files.list(folder.resolve("offsets"))) {
            assertEquals(1, names.count());
        }
    }

    @Test
    void aRenameReplacesAFileOnlyWithTheOptionOverwrite() throws Exception {
        write("old", "old");
        write("new", "new");

        assertThrows(FileAlreadyExistsException.class, () -> files.rename(path("new"), path("old")));
        files.rename(path("new"), path("old"), Rename.OVERWRITE);

        assertEquals("new", Files.readString(folder.resolve("old")));
        assertFalse(Files.exists(folder.resolve("new")));
    }

    @Test
    void ofSeveralRenamesToTheSameNameOneSucceeds() throws Exception {
        int threads = 4;
        try (var writers = new Writers(threads)) {
            for (int round = 0; round < 200; round++) {
                int number = round;
                for (int thread = 0; thread < threads; thread++) {
                    write(".%d.%d".formatted(round, thread), String.valueOf(thread));
                }

                List<Integer> succeeded = writers.run(thread -> {
                    try {
                        files.rename(path(".%d.%d".formatted(number, thread)), path(String.valueOf(number)));
                        return true;
                    } catch (FileAlreadyExistsException error) {
                        return false;
                    }
                });

                assertEquals(1, succeeded.size());
                assertEquals(String.valueOf(succeeded.get(0)), Files.readString(folder.resolve(String.valueOf(round))));
            }
        }
    }

    /** Threads that each do the same work at the same time. */
    private static final class Writers implements AutoCloseable {
        private final ExecutorService pool;
        private final CyclicBarrier begin;

        Writers(int threads) {
            pool = Executors.newFixedThreadPool(threads);
            begin = new CyclicBarrier(threads);
        }

        /** The numbers of the threads whose work returned true. */
        List<Integer> run(Work work) throws Exception {
            List<Future<Boolean>> results = new ArrayList<>();
            for (int thread = 0; thread < begin.getParties(); thread++) {
                int number = thread;
                results.add(pool.submit(() -> {
                    begin.await();
                    return work.of(number);
                }));
            }
            List<Integer> done = new ArrayList<>();
            for (int thread = 0; thread < results.size(); thread++) {
                if (results.get(thread).get()) {
                    done.add(thread);
                }
            }
            return done;
        }

        @Override
        public void close() {
            pool.shutdownNow();
        }

        interface Work {
            boolean of(int thread) throws Exception;
        }
    }

    @Test
    void onAFileSystemWithoutLinksAFileIsRenamedUnlessTheNameExists() throws Exception {
        java.nio.file.Path source = folder.resolve(".0.tmp");
        ExclusiveRename rename = new ExclusiveRename((name, file) -> {
            throw new FileSystemException(name.toString(), file.toString(), "Operation not permitted");
        });
        write(".0.tmp", "v1");

        rename.rename(source, folder.resolve("0"));

        assertEquals("v1", Files.readString(folder.resolve("0")));
        write(".0.tmp", "v2");
        assertThrows(java.nio.file.FileAlreadyExistsException.class, () -> rename.rename(source, folder.resolve("0")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Input/output error", "No space left on device", "Stale file handle", "Permission denied"})
    void anErrorOfALinkThatSaysNothingAboutLinksIsThrown(String reason) throws Exception {
        java.nio.file.Path source = folder.resolve(".0.tmp");
        ExclusiveRename rename = new ExclusiveRename((name, file) -> {
            throw new FileSystemException(name.toString(), file.toString(), reason);
        });
        write(".0.tmp", "v1");

        assertThrows(FileSystemException.class, () -> rename.rename(source, folder.resolve("0")));

        assertFalse(Files.exists(folder.resolve("0")));
    }

    @Test
    void aLinkThatAServerHasCreatedTwiceSucceeds() throws Exception {
        java.nio.file.Path source = folder.resolve(".0.tmp");
        ExclusiveRename rename = new ExclusiveRename((name, file) -> {
            Files.createLink(name, file);
            throw new java.nio.file.FileAlreadyExistsException(name.toString());
        });
        write(".0.tmp", "v1");

        rename.rename(source, folder.resolve("0"));

        assertEquals("v1", Files.readString(folder.resolve("0")));
        assertFalse(Files.exists(source));
    }

    @Test
    void aMissingFileCannotBeRenamed() {
        assertThrows(FileNotFoundException.class, () -> files.rename(path("nothing"), path("0")));
    }

    @Test
    void permissionsAreSet() throws Exception {
        write("file", "x");

        files.setPermission(path("file"), new FsPermission((short) 0640));

        assertEquals(
                "rw-r-----",
                java.nio.file.attribute.PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(folder.resolve("file"))));
    }

    @Test
    void aLinkIsFollowedAndAMissingFileIsReported() throws Exception {
        write("file", "four");
        Files.createSymbolicLink(folder.resolve("link"), folder.resolve("file"));

        assertEquals(4, files.getFileLinkStatus(path("link")).getLen());
        assertThrows(FileNotFoundException.class, () -> files.getFileLinkStatus(path("nothing")));
        assertTrue(files.delete(path("file"), false));
    }
}
