package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class WrittenRecordsTest {
    private final WrittenRecords written = new WrittenRecords();

    @Test
    void nothingIsWrittenAtFirst() {
        assertEquals(0, written.remaining());
        assertFalse(written.take(0, 0, null));
        assertEquals(Map.of(), written.ends());
    }

    @Test
    void equalIdentitiesAreCounted() {
        written.add(1, 2);
        written.add(1, 2);
        written.add(2, 1);
        assertEquals(3, written.remaining());
        assertTrue(written.take(1, 2, null));
        assertTrue(written.take(1, 2, null));
        assertFalse(written.take(1, 2, null));
        assertTrue(written.take(2, 1, null));
        assertEquals(0, written.remaining());
    }

    @Test
    void anIdentityOfZerosIsOneOfMany() {
        written.add(0, 0);
        assertTrue(written.take(0, 0, null));
        assertFalse(written.take(0, 0, null));
        written.add(0, 0);
        assertTrue(written.take(0, 0, null));
    }

    @Test
    void thousandsOfIdentitiesAreFound() {
        for (int number = 0; number < 50_000; number++) {
            written.add(number % 7, number);
        }
        assertEquals(50_000, written.remaining());
        for (int number = 0; number < 50_000; number++) {
            assertFalse(written.take(7, number, null));
            assertTrue(written.take(number % 7, number, null));
        }
        assertEquals(0, written.remaining());
    }

    @Test
    void countsStayWhenTheTableGrows() {
        for (int copy = 0; copy < 3; copy++) {
            written.add(1, 1);
        }
        written.take(1, 1, null);
        for (int number = 0; number < 5_000; number++) {
            written.add(2, number);
        }
        assertEquals(5_002, written.remaining());
        assertTrue(written.take(1, 1, null));
        assertTrue(written.take(1, 1, null));
        assertFalse(written.take(1, 1, null));
    }

    @Test
    void theResultIsThatOfAMap() {
        for (int seed = 0; seed < 20; seed++) {
            compareWithAMap(new Random(seed), new WrittenRecords());
        }
    }

    private static void compareWithAMap(Random random, WrittenRecords records) {
        Map<List<Long>, Integer> model = new HashMap<>();
        int range = 1 + random.nextInt(200);
        for (int step = 0; step < 20_000; step++) {
            // Neighbouring longs, and longs that differ in their upper halves only.
            long high = (long) random.nextInt(range) << (random.nextBoolean() ? 32 : 0);
            long low = random.nextInt(range);
            List<Long> identity = List.of(high, low);
            if (random.nextInt(3) > 0) {
                records.add(high, low);
                model.merge(identity, 1, Integer::sum);
            } else {
                assertEquals(model.getOrDefault(identity, 0) > 0, records.take(high, low, null));
                model.computeIfPresent(identity, (same, count) -> count == 1 ? null : count - 1);
            }
        }
        assertEquals(model.values().stream().mapToInt(count -> count).sum(), records.remaining());
    }

    @Test
    void theEndOfAPartitionIsAfterItsLastRecord() {
        TopicPartition a = new TopicPartition("a", 3);
        TopicPartition b = new TopicPartition("b", 3);
        written.addOfRecord(5L << 32 | 3, 41, List.of(a));
        written.addOfRecord(-7L << 32 | 3, 40, List.of(a));
        written.addOfRecord(3, 0, List.of(a, b));
        written.add(2, 9);
        assertEquals(Map.of(a, 42L, b, 1L), written.ends());
        assertEquals(4, written.remaining());
    }

    private static byte[] value(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void addOpened(long high, long low, long number, byte[] value) {
        WrittenRecord record = new WrittenRecord(new TopicPartition("t", 1), number, value("k" + high));
        written.addOpened(high, low, number, value, value == null ? null : record);
    }

    @Test
    void aResultOfAnOpenBatchIsTheLastOneOfItsGroup() {
        addOpened(1, 2, 9, value("1"));
        addOpened(1, 2, 10, value("2"));
        addOpened(1, 2, 8, value("0"));
        addOpened(3, 4, 1, null);
        assertEquals(2, written.remaining());
        assertTrue(written.take(1, 2, value("2")));
        assertFalse(written.take(1, 2, value("2")));
        assertTrue(written.take(3, 4, null));
        assertEquals(0, written.remaining());
    }

    @Test
    void anotherValueThanTheLastOneIsNotWritten() {
        addOpened(1, 2, 1, value("1"));
        addOpened(1, 2, 2, value("2"));
        assertFalse(written.take(1, 2, value("1")));
        assertEquals(0, written.remaining(), "a batch has one result of a group");
    }

    @Test
    void aResultOfTheBatchThatRanAfterItWasOpenIsWritten() {
        addOpened(1, 2, 1, value("2"));
        written.add(1, 2);
        addOpened(1, 2, 2, value("4"));
        assertEquals(1, written.remaining());
        assertTrue(written.take(1, 2, value("3")));
    }

    @Test
    void aResultThatAnotherAttemptHasWrittenIsWritten() {
        WrittenRecords ofAttempt = new WrittenRecords();
        ofAttempt.add(1, 2);
        addOpened(1, 2, 1, value("2"));
        written.join(ofAttempt);
        assertTrue(written.take(1, 2, value("3")));
    }

    @Test
    void aLastResultThatTheBatchDoesNotHaveIsStale() {
        addOpened(1, 2, 1, value("1"));
        addOpened(2, 2, 1, value("2"));
        addOpened(3, 2, 1, value("3"));
        addOpened(4, 2, 1, value("4"));
        addOpened(4, 2, 2, null);
        written.take(1, 2, value("1"));
        written.take(2, 2, value("another"));
        assertEquals(Set.of(new RecordIdentity(1, 2), new RecordIdentity(2, 2)), Set.copyOf(written.taken()));
        assertEquals(Set.of(new RecordIdentity(3, 2)), written.stale().keySet());
        ProducerRecord<byte[], byte[]> deletion =
                written.stale().get(new RecordIdentity(3, 2)).tombstone("app/run/q/7", new RecordIdentity(3, 2));
        assertArrayEquals(value("k3"), deletion.key());
        assertNull(deletion.value());
        assertEquals(1, deletion.partition());
        written.takeAll(List.of(new RecordIdentity(3, 2), new RecordIdentity(9, 9)));
        assertEquals(Map.of(), written.stale());
        assertEquals(1, written.remaining(), "the tombstone");
    }

    @Test
    void lastResultsStayWhenTheTableGrows() {
        for (int number = 0; number < 5_000; number++) {
            addOpened(number, 0, 1, value("a" + number));
        }
        for (int number = 0; number < 5_000; number++) {
            assertEquals(number % 2 == 0, written.take(number, 0, value((number % 2 == 0 ? "a" : "b") + number)));
        }
    }
}
