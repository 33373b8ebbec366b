package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.errors.LsqlException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;

class RangeConsumerTest {
    private static final TopicPartition P0 = new TopicPartition("t", 0);
    private static final TopicPartition P1 = new TopicPartition("t", 1);

    /** Counts seeks: a range that follows the previous one needs none. */
    private static final class Mock extends MockConsumer<byte[], byte[]> {
        private int seeks;

        Mock() {
            super(OffsetResetStrategy.NONE);
        }

        @Override
        public void seek(TopicPartition partition, long offset) {
            seeks++;
            super.seek(partition, offset);
        }
    }

    private final Mock kafka = new Mock();
    private final RangeConsumer consumer = new RangeConsumer(kafka);

    private void begin(OffsetRange... ranges) {
        consumer.begin(Arrays.asList(ranges), true, Duration.ofMillis(50));
    }

    private static OffsetRange range(TopicPartition partition, long from, long until) {
        return new OffsetRange(partition, from, until);
    }

    private void add(TopicPartition partition, long... offsets) {
        for (long offset : offsets) {
            kafka.addRecord(new ConsumerRecord<>(partition.topic(), partition.partition(), offset, null, new byte[0]));
        }
    }

    private Map<Integer, List<Long>> readAll() {
        Map<Integer, List<Long>> offsets = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record = consumer.next(); record != null; record = consumer.next()) {
            offsets.computeIfAbsent(record.partition(), number -> new ArrayList<>())
                    .add(record.offset());
        }
        return offsets;
    }

    @Test
    void allRecordsOfTheRangesAreReadInTheOrderOfEachPartition() {
        begin(range(P0, 3, 6), range(P1, 0, 2));
        add(P0, 3, 4, 5, 6);
        add(P1, 0, 1);
        assertEquals(Map.of(0, List.of(3L, 4L, 5L), 1, List.of(0L, 1L)), readAll());
    }

    @Test
    void theNextRangeContinuesWithRecordsThatAreAlreadyPolled() {
        begin(range(P0, 0, 2));
        add(P0, 0, 1, 2, 3);
        readAll();
        int before = kafka.seeks;
        begin(range(P0, 2, 4));
        assertEquals(Map.of(0, List.of(2L, 3L)), readAll());
        assertEquals(before, kafka.seeks);
    }

    @Test
    void aRangeThatDoesNotFollowThePreviousOneIsReadFromItsFirstOffset() {
        begin(range(P0, 0, 2));
        add(P0, 0, 1, 2, 3);
        readAll();
        begin(range(P0, 1, 3));
        add(P0, 1, 2);
        assertEquals(Map.of(0, List.of(1L, 2L)), readAll());
    }

    @Test
    void offsetsWithoutRecordsAreSkipped() {
        begin(range(P0, 0, 5));
        add(P0, 1, 4);
        assertEquals(Map.of(0, List.of(1L, 4L)), readAll());
        begin(range(P0, 5, 8));
        add(P0, 9);
        assertEquals(Map.of(), readAll());
        begin(range(P0, 8, 10));
        assertEquals(Map.of(0, List.of(9L)), readAll());
    }

    @Test
    void aPartitionThatIsNotReadKeepsItsPolledRecords() {
        begin(range(P0, 0, 1), range(P1, 0, 1));
        add(P0, 0, 1);
        add(P1, 0, 1);
        readAll();
        begin(range(P1, 1, 2));
        assertEquals(Map.of(1, List.of(1L)), readAll());
        begin(range(P0, 1, 2));
        assertEquals(Map.of(0, List.of(1L)), readAll());
    }

    @Test
    void withoutRecordsItFailsAfterTheTimeLimit() {
        begin(range(P0, 0, 1));
        TimeoutException error = assertThrows(TimeoutException.class, consumer::next);
        assertEquals("no records of t-0 from offset 0 within 50 ms", error.getMessage());
    }

    @Test
    void missingRecordsAreAnError() {
        begin(range(P0, 0, 3));
        kafka.setPollException(new OffsetOutOfRangeException(Map.of(P0, 0L)));
        assertThrows(OffsetOutOfRangeException.class, consumer::next);
    }

    @Test
    void missingRecordsAreSkippedIfTheyAreNoError() {
        consumer.begin(List.of(range(P0, 0, 4), range(P1, 0, 1)), false, Duration.ofMillis(50));
        add(P1, 0);
        kafka.updateBeginningOffsets(Map.of(P0, 2L));
        kafka.updateEndOffsets(Map.of(P0, 4L));
        kafka.setPollException(new OffsetOutOfRangeException(Map.of(P0, 0L)));
        kafka.schedulePollTask(() -> {});
        kafka.schedulePollTask(() -> add(P0, 2, 3));
        assertEquals(Map.of(0, List.of(2L, 3L), 1, List.of(0L)), readAll());
    }

    @Test
    void aPartitionThatBeginsAfterItsRangeHasNoRecordsThere() {
        consumer.begin(List.of(range(P0, 7, 9)), false, Duration.ofMillis(50));
        kafka.updateBeginningOffsets(Map.of(P0, 9L));
        kafka.updateEndOffsets(Map.of(P0, 9L));
        kafka.setPollException(new OffsetOutOfRangeException(Map.of(P0, 7L)));
        assertEquals(Map.of(), readAll());
    }

    @Test
    void aPartitionThatEndsBeforeThePositionIsAnErrorAlsoIfRecordsMayBeLost() {
        consumer.begin(List.of(range(P0, 7, 9)), false, Duration.ofMillis(50));
        kafka.updateEndOffsets(Map.of(P0, 5L));
        kafka.setPollException(new OffsetOutOfRangeException(Map.of(P0, 7L)));
        LsqlException error = assertThrows(LsqlException.class, consumer::next);
        assertEquals("LSQL_TOPIC_SHORTER", error.getCondition());
    }
}
