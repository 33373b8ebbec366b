package com.lsqlrunner.memory;

import com.lsqlrunner.PythonEntry;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.time.Duration;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * The memory and the processor time that this JVM uses. One call returns all numbers, because each call from Python is
 * a message.
 */
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
                {"heap_used_bytes": %d, "heap_committed_bytes": %d, "heap_max_bytes": %d, \
                "code_cache_used_bytes": %d, "code_cache_committed_bytes": %d, "metaspace_bytes": %d, \
                "direct_buffers_bytes": %d, "threads": %d, "cpu_ms": %d, "collectors": [%s]}""".formatted(
                        heap.getUsed(),
                        heap.getCommitted(),
                        heap.getMax(),
                        pools(CODE, MemoryUsage::getUsed),
                        pools(CODE, MemoryUsage::getCommitted),
                        pools(METASPACE, MemoryUsage::getCommitted),
                        directBuffers(),
                        ManagementFactory.getThreadMXBean().getThreadCount(),
                        processorTime().toMillis(),
                        ManagementFactory.getGarbageCollectorMXBeans().stream()
                                .map(JvmMemory::collector)
                                .collect(Collectors.joining(", ")));
    }

    /** A collector as a JSON object. The names of Java's collectors need no escapes. */
    private static String collector(GarbageCollectorMXBean bean) {
        return "{\"name\": \"%s\", \"collections\": %d, \"time_ms\": %d}"
                .formatted(bean.getName(), bean.getCollectionCount(), bean.getCollectionTime());
    }

    private static Duration processorTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
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
