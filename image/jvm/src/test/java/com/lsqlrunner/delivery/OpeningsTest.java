package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.fs.AtomicFile;
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
    void aBatchIsOpenedAgainWithItsName() {
        assertNull(openings().of(7));
        String name = openings().open(7);
        assertEquals(name, openings().open(7));
        assertEquals(new Openings.Opening(name, false), openings().of(7));
    }

    @Test
    void eachBatchHasAnotherName() {
        assertNotEquals(openings().open(7), openings().open(8));
        assertNull(openings().of(7));
    }

    @Test
    void aClosedBatchKeepsItsName() {
        String name = openings().open(7);
        openings().close(7);
        assertEquals(new Openings.Opening(name, true), openings().of(7));
        assertTrue(openings().of(7).isClosed());
        assertFalse(new Openings.Opening(name, false).isClosed());
    }
}
