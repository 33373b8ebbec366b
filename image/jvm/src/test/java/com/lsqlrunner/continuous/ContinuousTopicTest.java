package com.lsqlrunner.continuous;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.topic.MarkedStart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ContinuousTopicTest {
    private static final TopicPartition P0 = new TopicPartition("t", 0);
    private static final TopicPartition P1 = new TopicPartition("t", 1);
    private static final Map<TopicPartition, Long> STARTS = Map.of(P0, 0L, P1, 5L);

    private final List<MockConsumer<byte[], byte[]>> consumers = new ArrayList<>();

    private ContinuousTopic topic(int tasks, boolean failOnDataLoss) {
        return topic(tasks, failOnDataLoss, null);
    }

    private ContinuousTopic topic(int tasks, boolean failOnDataLoss, MarkedStart marked) {
        return new ContinuousTopic(null, STARTS, tasks, failOnDataLoss, null, this::newConsumer, marked);
    }

    private MockConsumer<byte[], byte[]> newConsumer() {
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>(OffsetResetStrategy.NONE);
        consumers.add(consumer);
        return consumer;
    }

    private void add(int consumer, TopicPartition partition, long... offsets) {
        consumers.get(consumer).schedulePollTask(() -> {
            for (long offset : offsets) {
                consumers
                        .get(consumer)
                        .addRecord(new ConsumerRecord<>(partition.topic(), partition.partition(), offset, null, null));
            }
        });
    }

    private static Map<TopicPartition, Long> positions(ContinuousTopic topic) {
        ContinuousTask.Written written = new ContinuousTask.Written();
        topic.takeWritten(written);
        return written.positions;
    }

    @Test
    void aTaskReadsItsPartitionsUntilTheQueryIsStopped() {
        ContinuousTopic topic = topic(1, true);
        ContinuousReader reader = topic.reader(topic.addScan(), 0, new ContinuousTask());
        add(0, P0, 0, 1);
        add(0, P1, 5);
        List<Long> offsets = new ArrayList<>();
        for (int count = 0; count < 3; count++) {
            assertTrue(reader.next());
            offsets.add(reader.get().getLong(4));
        }
        assertEquals(List.of(0L, 1L, 5L), offsets);
        topic.stop();
        assertFalse(reader.next());
        assertEquals(Map.of(P0, 2L, P1, 6L), positions(topic));
    }

    @Test
    void thePartitionsAreDividedAmongTheTasks() {
        ContinuousTopic topic = topic(2, true);
        assertEquals(Map.of(P0, 0L), topic.partitionsOf(0));
        assertEquals(Map.of(P1, 5L), topic.partitionsOf(1));
    }

    @Test
    void thePositionIsThatOfTheSlowestInsert() {
        ContinuousTopic topic = topic(1, true);
        int fast = topic.addScan();
        topic.addScan();
        ContinuousReader reader = topic.reader(fast, 0, new ContinuousTask());
        add(0, P0, 0, 1);
        assertTrue(reader.next());
        assertTrue(reader.next());
        topic.stop();
        assertFalse(reader.next());
        assertEquals(STARTS, positions(topic));
    }

    @Test
    void missingRecordsAreAnError() {
        ContinuousTopic strict = topic(1, true);
        ContinuousReader failing = strict.reader(strict.addScan(), 0, new ContinuousTask());
        consumers.get(0).setPollException(new OffsetOutOfRangeException(Map.of(P0, 0L)));
        assertThrows(OffsetOutOfRangeException.class, failing::next);
    }

    @Test
    void aPartitionThatEndsBeforeThePositionIsAnErrorAlsoIfRecordsMayBeLost() {
        ContinuousTopic topic = topic(1, false);
        ContinuousReader reader = topic.reader(topic.addScan(), 0, new ContinuousTask());
        MockConsumer<byte[], byte[]> consumer = consumers.get(0);
        consumer.updateBeginningOffsets(Map.of(P1, 0L));
        consumer.updateEndOffsets(Map.of(P1, 2L));
        consumer.setPollException(new OffsetOutOfRangeException(Map.of(P1, 5L)));

        LsqlException error = assertThrows(LsqlException.class, reader::next);

        assertEquals("LSQL_TOPIC_SHORTER", error.getCondition());
        assertEquals(Map.of("topic", "t", "partition", "1", "position", "5", "end", "2"), error.getMessageParameters());
    }

    @ParameterizedTest
    @CsvSource({"7, 9, 7", "7, 7, 7", "0, 9, 5"})
    void missingRecordsAreSkippedIfTheyAreNoError(long beginning, long end, long expected) {
        ContinuousTopic topic = topic(1, false);
        ContinuousReader reader = topic.reader(topic.addScan(), 0, new ContinuousTask());
        MockConsumer<byte[], byte[]> consumer = consumers.get(0);
        consumer.updateBeginningOffsets(Map.of(P1, beginning));
        consumer.updateEndOffsets(Map.of(P1, end));
        consumer.setPollException(new OffsetOutOfRangeException(Map.of(P1, 5L)));
        consumer.schedulePollTask(() -> {});
        add(0, P1, 0, 1, 2, 5, 7);

        assertTrue(reader.next());

        long first = reader.get().getLong(4);
        assertEquals(expected, first);
    }

    @Test
    void thePolledPositionIsThatOfTheFastestInsert() {
        ContinuousTopic topic = topic(1, true);
        ContinuousTask fast = new ContinuousTask();
        ContinuousTask slow = new ContinuousTask();
        topic.reader(topic.addScan(), 0, fast);
        topic.reader(topic.addScan(), 0, slow);
        assertEquals(Map.of(), topic.polled());
        fast.polled(records(P0, 7));
        slow.polled(records(P0, 3));
        slow.polled(records(P1, 5));
        assertEquals(Map.of(P0, 8L, P1, 6L), topic.polled());
    }

    @Test
    void theFirstRecordsAreReadWithMarksAndTheOthersWithout(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("mark.json");
        MarkedStart marked = MarkedStart.of(file, STARTS, Map.of(P0, 9L, P1, 5L), 2, this::newConsumer);
        ContinuousTopic topic = topic(1, true, marked);
        ContinuousReader reader = topic.reader(topic.addScan(), 0, new ContinuousTask());
        add(1, P0, 0);
        add(1, P0, 1);

        assertTrue(reader.next());
        assertEquals(
                "{\"topic\":\"t\",\"partition\":0,\"offset\":0}",
                Files.readString(file).strip());
        assertTrue(reader.next());
        assertEquals(
                "{\"topic\":\"t\",\"partition\":0,\"offset\":1}",
                Files.readString(file).strip());
        assertEquals(1L, reader.get().getLong(4));

        add(0, P0, 2);
        add(0, P1, 5);
        assertTrue(reader.next());
        assertEquals("{}", Files.readString(file).strip());
        assertTrue(consumers.get(1).closed());
        assertEquals(List.of(2L, 5L), List.of(reader.get().getLong(4), nextOffset(reader)));
        topic.stop();
        assertFalse(reader.next());
        assertEquals(Map.of(P0, 3L, P1, 6L), positions(topic));
    }

    private static long nextOffset(ContinuousReader reader) {
        assertTrue(reader.next());
        return reader.get().getLong(4);
    }

    @Test
    void aStopAmongTheMarkedRecordsKeepsThePositionAndRemovesTheMark(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("mark.json");
        ContinuousTopic topic =
                topic(1, true, MarkedStart.of(file, STARTS, Map.of(P0, 9L, P1, 5L), 100, this::newConsumer));
        ContinuousReader reader = topic.reader(topic.addScan(), 0, new ContinuousTask());
        add(1, P0, 0);
        assertTrue(reader.next());

        topic.stop();

        assertFalse(reader.next());
        reader.close();
        assertEquals("{}", Files.readString(file).strip());
        assertEquals(Map.of(P0, 1L, P1, 5L), positions(topic));
    }

    @Test
    void withoutTransactionsThePolledPositionsAreNotKept() {
        ContinuousTopic topic = topic(1, true);
        ContinuousReader reader = topic.reader(topic.addScan(), 0, new ContinuousTask());
        add(0, P0, 0);
        assertTrue(reader.next());
        assertFalse(topic.isTransactional());
        assertEquals(Map.of(), topic.polled());
    }

    private static ConsumerRecords<byte[], byte[]> records(TopicPartition partition, long offset) {
        return new ConsumerRecords<>(Map.of(
                partition,
                List.of(new ConsumerRecord<>(partition.topic(), partition.partition(), offset, null, null))));
    }
}
