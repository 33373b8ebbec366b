package com.lsqlrunner.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class JvmMemoryTest {
    private static JsonNode measured() throws JsonProcessingException {
        return new ObjectMapper().readTree(JvmMemory.json());
    }

    @Test
    void usedMemoryIsPartOfCommittedMemory() throws JsonProcessingException {
        JsonNode memory = measured();

        assertEquals(10, memory.size());
        assertTrue(memory.get("heap_used_bytes").longValue() > 0);
        assertTrue(memory.get("heap_used_bytes").longValue()
                <= memory.get("heap_committed_bytes").longValue());
        assertTrue(memory.get("heap_committed_bytes").longValue()
                <= memory.get("heap_max_bytes").longValue());
        assertTrue(memory.get("code_cache_used_bytes").longValue() > 0);
        assertTrue(memory.get("code_cache_used_bytes").longValue()
                <= memory.get("code_cache_committed_bytes").longValue());
        assertTrue(memory.get("metaspace_bytes").longValue() > 0);
        assertTrue(memory.get("threads").intValue() > 0);
    }

    @Test
    void processorTimeAndCollectionsOnlyGrow() throws JsonProcessingException {
        JsonNode before = measured();
        System.gc();
        JsonNode after = measured();

        assertTrue(before.get("cpu_ms").longValue() > 0);
        assertTrue(before.get("cpu_ms").longValue() <= after.get("cpu_ms").longValue());
        assertTrue(collections(before) < collections(after));
    }

    private static long collections(JsonNode memory) {
        long sum = 0;
        for (JsonNode collector : memory.get("collectors")) {
            assertTrue(collector.get("time_ms").longValue() >= 0);
            assertFalse(collector.get("name").textValue().isEmpty());
            sum += collector.get("collections").longValue();
        }
        return sum;
    }

    @Test
    void directBuffersAreMeasured() throws JsonProcessingException {
        long before = measured().get("direct_buffers_bytes").longValue();
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
        long after = measured().get("direct_buffers_bytes").longValue();

        assertEquals(1 << 20, buffer.capacity());
        assertTrue(after - before >= 1 << 20);
    }
}
