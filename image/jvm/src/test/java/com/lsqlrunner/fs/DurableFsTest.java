package com.lsqlrunner.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileNotFoundException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.EnumSet;
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
