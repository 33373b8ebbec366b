package com.lsqlrunner.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.topic.RangeConsumer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RangeConsumersTest {
    private static final String STREAM = "stream";

    private final List<MockConsumer<byte[], byte[]>> opened = new ArrayList<>();

    private RangeConsumer take(String task) {
        return RangeConsumers.of(STREAM).take(task, () -> {
            MockConsumer<byte[], byte[]> consumer = new MockConsumer<>(OffsetResetStrategy.NONE);
            opened.add(consumer);
            return new RangeConsumer(consumer);
        });
    }

    @AfterEach
    void close() {
        RangeConsumers.close(STREAM);
    }

    @Test
    void theNextBatchOfATaskHasTheSameConsumer() {
        RangeConsumer first = take("1/2");
        RangeConsumer other = take("2/2");
        assertNotSame(first, other);
        RangeConsumers.of(STREAM).release("1/2", first);
        RangeConsumers.of(STREAM).release("2/2", other);
        assertSame(first, take("1/2"));
        assertSame(other, take("2/2"));
    }

    @Test
    void twoTasksAtTheSameTimeHaveTwoConsumers() {
        assertNotSame(take("1/1"), take("1/1"));
    }

    @Test
    void consumersThatWereNotUsedForAMinuteAreClosed() {
        RangeConsumers consumers = RangeConsumers.of(STREAM);
        consumers.release("1/2", take("1/2"));
        long released = System.nanoTime();
        consumers.closeUnused(released);
        assertFalse(opened.get(0).closed());
        consumers.closeUnused(released + Duration.ofSeconds(61).toNanos());
        assertTrue(opened.get(0).closed());
        take("1/2");
        assertEquals(2, opened.size());
    }

    @Test
    void aStreamThatEndsClosesItsConsumers() {
        RangeConsumers consumers = RangeConsumers.of(STREAM);
        RangeConsumer idle = take("1/2");
        RangeConsumer running = take("2/2");
        consumers.release("1/2", idle);
        RangeConsumers.close(STREAM);
        assertTrue(opened.get(0).closed());
        assertFalse(opened.get(1).closed());
        consumers.release("2/2", running);
        assertTrue(opened.get(1).closed());
    }
}
