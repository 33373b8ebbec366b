package com.lsqlrunner.memory;

import com.lsqlrunner.PythonEntry;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.List;

/**
 * Full garbage collections on request. They return unused memory of a small heap to the kernel, and stop all threads
 * for a tenth of a second or two.
 */
@PythonEntry
public final class FullCollections {
    /** The names of the old generation's pool in the different collectors. */
    private static final List<String> OLD_GENERATIONS = List.of("Tenured Gen", "PS Old Gen", "G1 Old Gen");

    private FullCollections() {}

    /** Collects if the old generation has grown by a number of bytes since the last full collection. */
    public static void collectIfGrown(long bytes) {
        if (grownBytes() >= bytes) {
            System.gc();
        }
    }

    /** The growth of the old generation in bytes since the last full collection, or since the start. */
    static long grownBytes() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> OLD_GENERATIONS.contains(pool.getName()))
                .mapToLong(FullCollections::grownBytes)
                .sum();
    }

    private static long grownBytes(MemoryPoolMXBean pool) {
        return pool.getUsage().getUsed() - pool.getCollectionUsage().getUsed();
    }
}
