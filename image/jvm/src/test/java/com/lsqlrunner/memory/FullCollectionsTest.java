package com.lsqlrunner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

class FullCollectionsTest {
    private static final int MIB = 1 << 20;

    @Test
    void aHeapThatHasGrownIsCollected() {
        FullCollections.collectIfGrown(0);
        byte[] old = new byte[32 * MIB];
        long grown = FullCollections.grownBytes();

        FullCollections.collectIfGrown(16 * MIB);

        assertTrue(grown >= old.length, () -> grown + " bytes");
        assertTrue(FullCollections.grownBytes() < 16 * MIB);
    }

    @Test
    void aHeapThatHasNotGrownIsNotCollected() {
        FullCollections.collectIfGrown(0);
        long before = fullCollections();

        FullCollections.collectIfGrown(1024L * MIB);

        assertEquals(before, fullCollections());
    }

    /** The number of full collections of any collector so far. */
    private static long fullCollections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> collector.getName().matches("G1 Old Generation|PS MarkSweep|MarkSweepCompact"))
                .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }
}
