package com.lsqlrunner.memory;

import com.lsqlrunner.PythonEntry;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.List;
import java.util.function.ToLongFunction;

/** The memory that this JVM uses. One call returns all numbers, because each call from Python is a message. */
@PythonEntry
public final class JvmMemory {
    /** The names of the memory pools for compiled code begin with this: one pool, or three for a large code cache. */
    private static final String CODE = "Code";

    private static final String METASPACE = "Metaspace";

    private JvmMemory() {}

    /** The numbers as a JSON object, with the names of the fields of Python's `JvmMemory`. */
    public static String json() {
        MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        return """
                {"heap_used_bytes": %d, "heap_committed_bytes": %d, "code_cache_used_bytes": %d, \
                "code_cache_committed_bytes": %d, "metaspace_bytes": %d, "direct_buffers_bytes": %d, "threads": %d}""".formatted(
                        heap.getUsed(),
                        heap.getCommitted(),
                        pools(CODE, MemoryUsage::getUsed),
                        pools(CODE, MemoryUsage::getCommitted),
                        pools(METASPACE, MemoryUsage::getCommitted),
                        directBuffers(),
                        ManagementFactory.getThreadMXBean().getThreadCount());
    }

    private static long pools(String prefix, ToLongFunction<MemoryUsage> size) {
        List<MemoryPoolMXBean> pools = ManagementFactory.getMemoryPoolMXBeans();
        return pools.stream()
                .filter(pool -> pool.getName().startsWith(prefix))
                .map(MemoryPoolMXBean::getUsage)
                .mapToLong(size)
                .sum();
    }

    private static long directBuffers() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
