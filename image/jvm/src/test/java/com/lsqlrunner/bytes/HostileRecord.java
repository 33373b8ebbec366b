package com.lsqlrunner.bytes;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Callable;

/** Checks what a record costs that was written to exhaust its reader. */
public final class HostileRecord {
    public static final String TOO_MANY =
            "the arrays and maps of the record have too many items: they would take more than %d MiB of memory";
    public static final String TOO_DEEP = "values are nested more than 500 levels deep";

    /** What decoding may allocate, with garbage: more than a budget, because lists grow by copying. */
    private static final long MOST_BYTES = 256L << 20;

    private static final long MOST_NANOS = SECONDS.toNanos(5);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private HostileRecord() {}

    /** Asserts that a decoder refuses a record, at little cost. */
    public static void assertRefused(String reason, Callable<Object> decode) {
        long allocated = THREADS.getCurrentThreadAllocatedBytes();
        long nanos = THREADS.getCurrentThreadCpuTime();

        assertEquals(
                reason,
                assertThrows(MalformedRecordException.class, decode::call).reason());

        long bytes = THREADS.getCurrentThreadAllocatedBytes() - allocated;
        assertTrue(bytes < MOST_BYTES, "allocated %d MiB".formatted(bytes >> 20));
        long took = THREADS.getCurrentThreadCpuTime() - nanos;
        assertTrue(took < MOST_NANOS, "took %d ms".formatted(took / 1_000_000));
    }
}
