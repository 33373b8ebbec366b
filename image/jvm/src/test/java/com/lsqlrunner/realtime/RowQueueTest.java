package com.lsqlrunner.realtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Product2;
import scala.collection.Iterator;

@Timeout(20)
class RowQueueTest {
    private static final Duration FOREVER = Duration.ofDays(1);

    private static InternalRow row(int number) {
        return new GenericInternalRow(new Object[] {number});
    }

    private static List<Integer> numbers(Iterator<Product2<Integer, InternalRow>> rows) {
        List<Integer> numbers = new ArrayList<>();
        while (rows.hasNext()) {
            numbers.add(rows.next()._2().getInt(0));
        }
        return numbers;
    }

    @Test
    void rowsEndWhenAllWritersHaveEnded() throws InterruptedException {
        RowQueue queue = new RowQueue(2);
        queue.add(row(1));
        queue.endWriter();
        queue.add(row(2));
        queue.endWriter();

        assertEquals(List.of(1, 2), numbers(queue.rows(0, () -> FOREVER)));
    }

    @Test
    void aTaskIsIdleWhenItsRowsHavePassed() throws InterruptedException {
        RowQueue queue = new RowQueue(1);
        queue.add(row(1));
        AtomicInteger idle = new AtomicInteger();
        Iterator<Product2<Integer, InternalRow>> rows = queue.rows(0, () -> {
            if (idle.incrementAndGet() == 3) {
                end(queue);
            }
            return Duration.ofMillis(1);
        });

        assertTrue(rows.hasNext());
        rows.next();
        assertEquals(0, idle.get());
        assertFalse(rows.hasNext());
        assertEquals(3, idle.get());
    }

    @Test
    void aWriterWaitsForAReaderThatIsBehind() throws InterruptedException {
        RowQueue queue = new RowQueue(1);
        Thread writer = new Thread(() -> {
            for (int number = 0; number < 5_000; number++) {
                add(queue, number);
            }
            end(queue);
        });
        writer.start();

        assertEquals(5_000, numbers(queue.rows(0, () -> FOREVER)).size());
        writer.join();
    }

    private static void add(RowQueue queue, int number) {
        try {
            queue.add(row(number));
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }

    private static void end(RowQueue queue) {
        try {
            queue.endWriter();
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }
}
