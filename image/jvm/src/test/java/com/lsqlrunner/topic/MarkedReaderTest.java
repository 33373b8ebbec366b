package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.marks.FileMark;
import com.lsqlrunner.marks.ReadMark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class MarkedReaderTest {
    private static final TopicPartition P0 = new TopicPartition("t", 0);
    private static final TopicPartition P1 = new TopicPartition("t", 1);

    private final MockConsumer<byte[], byte[]> kafka = new MockConsumer<>(OffsetResetStrategy.NONE);

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("mark.json");
    }

    private MarkedReader reader(OffsetRange... ranges) {
        return new MarkedReader(kafka, new FileMark(file), List.of(ranges), true, Duration.ofMillis(50));
    }

    private void add(TopicPartition partition, long offset) {
        kafka.schedulePollTask(() -> kafka.addRecord(
                new ConsumerRecord<>(partition.topic(), partition.partition(), offset, new byte[0], new byte[0])));
    }

    private String mark() throws IOException {
        return Files.readString(file).strip();
    }

    private static String place(TopicPartition partition, long offset) {
        return "{\"topic\":\"t\",\"partition\":" + partition.partition() + ",\"offset\":" + offset + "}";
    }

    @Test
    void aRecordIsMarkedBeforeItIsReadAndUntilTheNextOneIsRead() throws IOException {
        AtomicReference<String> whilePolling = new AtomicReference<>();
        try (MarkedReader reader = reader(new OffsetRange(P0, 7, 9))) {
            kafka.schedulePollTask(() -> {
                try {
                    whilePolling.set(mark());
                } catch (IOException error) {
                    throw new AssertionError(error);
                }
                kafka.addRecord(new ConsumerRecord<>("t", 0, 7, new byte[0], new byte[0]));
            });
            assertEquals(7, reader.next().offset());
            assertEquals(place(P0, 7), whilePolling.get());
            assertEquals(place(P0, 7), mark());

            add(P0, 8);
            assertEquals(8, reader.next().offset());
            assertEquals(place(P0, 8), mark());

            assertNull(reader.next());
            assertEquals("{}", mark());
        }
    }

    @Test
    void theRangesAreReadOneAfterTheOther() {
        try (MarkedReader reader = reader(new OffsetRange(P0, 0, 1), new OffsetRange(P1, 4, 6))) {
            add(P0, 0);
            assertEquals(0, reader.next().partition());
            assertEquals(Map.of(P0, 1L, P1, 4L), reader.positions());

            add(P1, 5);
            ConsumerRecord<byte[], byte[]> record = reader.next();
            assertEquals(List.of(1L, 5L), List.of((long) record.partition(), record.offset()));

            assertNull(reader.next());
            assertEquals(Map.of(P0, 1L, P1, 6L), reader.positions());
        }
    }

    @Test
    void withoutARecordInTimeThereIsNoMarkAndItCanBeCalledAgain() throws IOException {
        try (MarkedReader reader = reader(new OffsetRange(P0, 0, 1))) {
            assertThrows(TimeoutException.class, reader::next);
            assertEquals("{}", mark());

            add(P0, 0);
            assertEquals(0, reader.next().offset());
        }
    }

    @Test
    void aCloseRemovesTheMark() throws IOException {
        MarkedReader reader = reader(new OffsetRange(P0, 0, 1));
        add(P0, 0);
        reader.next();

        reader.close();

        assertEquals("{}", mark());
        assertTrue(kafka.closed());
    }

    @Test
    void anotherThreadReadsItsRecordWhenThisOneIsProcessed() throws InterruptedException {
        FileMark first = new FileMark(file);
        ReadMark second = new FileMark(folder.resolve("second.json"));
        first.set(P0, 0);
        Thread other = new Thread(() -> {
            second.set(P1, 0);
            second.close();
        });
        other.start();
        other.join(100);
        assertTrue(other.isAlive());

        first.clear();

        other.join();
        assertFalse(other.isAlive());
        first.close();
    }

    @Test
    void itsConsumerPollsSingleRecords() {
        Map<String, Object> settings = MarkedReader.settings(Map.of("max.poll.records", "5000", "client.id", "c"));

        assertEquals(Map.of("max.poll.records", 1, "fetch.max.wait.ms", 5, "client.id", "c"), settings);
    }
}
