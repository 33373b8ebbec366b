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
        assertFalse(new Owner.OwnerFile(file, "3 pod-0_é").isReplaced());
        assertTrue(new Owner.OwnerFile(file, "2 pod-1").isReplaced());
    }

    @Test
    void fileThatCannotBeReadTellsNothing() {
        assertFalse(new Owner.OwnerFile(folder.resolve("missing"), "1 pod-0").isReplaced());
    }
}
