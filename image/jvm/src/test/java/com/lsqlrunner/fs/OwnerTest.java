package com.lsqlrunner.fs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnerTest {
    @TempDir
    private Path folder;

    @Test
    void anotherLineIsThatOfAnotherOwner() throws IOException {
        Path file = folder.resolve("owner");
        Files.writeString(file, "3 pod-0_é");
        assertFalse(Owner.isReplaced(file, "3 pod-0_é"));
        assertTrue(Owner.isReplaced(file, "2 pod-1"));
    }

    @Test
    void fileThatCannotBeReadTellsNothing() {
        assertFalse(Owner.isReplaced(folder.resolve("missing"), "1 pod-0"));
    }
}
