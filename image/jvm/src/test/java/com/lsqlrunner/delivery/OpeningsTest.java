package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.fs.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpeningsTest {
    @TempDir
    Path folder;

    private Openings openings() {
        return new Openings(AtomicFile.at(folder.resolve("open-batch").toString()));
    }

    @Test
    void aBatchHasTheNameOfItsLastOpening() {
        assertNull(openings().of(7));
        String first = openings().open(7);
        assertEquals(first, openings().of(7));
        String second = openings().open(7);
        assertNotEquals(first, second);
        assertEquals(second, openings().of(7));
    }

    @Test
    void aStartKeepsTheResultsOfAnOpeningInABatchWithFewRecordsToo() throws IOException {
        String name = openings().open(7);
        assertFalse(openings().areKept());
        Path file = folder.resolve("open-batch");
        Files.writeString(file, Files.readString(file) + ".kept");
        openings().markPartial();
        openings().markPartial();
        assertTrue(openings().areKept());
        assertTrue(openings().isPartial());
        assertEquals(name, openings().of(7));
        openings().open(7);
        assertFalse(openings().areKept());
    }

    @Test
    void anEarlierBatchIsForgotten() {
        openings().open(7);
        openings().open(8);
        assertNull(openings().of(7));
    }
}
