package com.lsqlrunner.delivery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class TargetScanTest {
    private static final TopicPartition P0 = new TopicPartition("t", 0);
    private static final TopicPartition P1 = new TopicPartition("t", 1);
    private static final String WRITER = "app/0123abcd/q/";
    private static final Replay STATEFUL = new Replay(7, true, null, null);
    private static final Replay STATELESS =
            new Replay(7, true, List.of(new InsertPositions(0, 0, "in", Map.of(0, 10L), List.of("out"))), null);

    private final Targets targets = new Targets();

    /** A consumer that also passes offsets without records, as a real consumer passes the markers of transactions. */
    private static final class Targets extends MockConsumer<byte[], byte[]> {
        private final Map<TopicPartition, Long> markers = new HashMap<>();
        private int polls;

        private Targets() {
            super(OffsetResetStrategy.EARLIEST);
            updateBeginningOffsets(Map.of(P0, 0L, P1, 0L));
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            polls++;
            return super.poll(timeout);
        }

        /** The offset after records and markers that follow them. */
        private void markersUntil(TopicPartition partition, long offset) {
            markers.put(partition, offset);
        }

        @Override
        public synchronized long position(TopicPartition partition) {
            long position = super.position(partition);
            return polls == 0 ? position : Math.max(position, markers.getOrDefault(partition, 0L));
        }
    }

    private void record(TopicPartition partition, long offset, String batch, byte[] identity) {
        RecordHeaders headers = new RecordHeaders();
        if (batch != null) {
            headers.add(RecordHeaderNames.BATCH, batch.getBytes(UTF_8));
        }
        if (identity != null) {
            headers.add(RecordHeaderNames.IDENTITY, identity);
        }
        targets.schedulePollTask(() -> targets.addRecord(new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                offset,
                0,
                TimestampType.CREATE_TIME,
                0,
                0,
                new byte[0],
                new byte[0],
                headers,
                Optional.empty())));
    }

    private void record(long offset, String batch, long high, long low) {
        record(P0, offset, batch, RecordHeaderNames.identity(high, low));
    }

    private WrittenRecords scan(Replay replay, Map<TopicPartition, Long> from, Map<TopicPartition, Long> until) {
        TargetScan scan = new TargetScan(WRITER, replay, Duration.ofSeconds(30), false);
        scan.read(targets, from, until);
        return scan.written();
    }

    @Test
    void targetsWithoutNewRecordsAreNotRead() {
        assertEquals(0, scan(STATEFUL, Map.of(P0, 4L), Map.of(P0, 4L, P1, 0L)).remaining());
        assertEquals(0, targets.polls);
    }

    @Test
    void onlyRecordsOfTheQueryAreFound() {
        record(0, "app/0123abcd/q/7", 0, 1);
        record(1, "app/0123abcd/q2/7", 0, 2);
        record(2, "app/99999999/q/7", 0, 3);
        record(3, "another", 0, 4);
        record(4, "app/0123abcd/q/", 0, 5);
        record(P0, 5, null, RecordHeaderNames.identity(0, 6));
        record(P0, 6, "app/0123abcd/q/7", null);
        WrittenRecords written = scan(STATEFUL, Map.of(), Map.of(P0, 7L));
        assertEquals(1, written.remaining());
        assertTrue(written.take(0, 1, null));
    }

    @Test
    void withStateOnlyTheBatchIsFound() {
        record(0, "app/0123abcd/q/6", 0, 1);
        record(1, "app/0123abcd/q/7", 0, 2);
        record(2, "app/0123abcd/q/7", 0, 2);
        record(3, "app/0123abcd/q/70", 0, 3);
        WrittenRecords written = scan(STATEFUL, Map.of(), Map.of(P0, 4L));
        assertEquals(2, written.remaining());
        assertTrue(written.take(0, 2, null));
        assertEquals(Map.of(), written.ends());
    }

    @Test
    void theLastRecordOfAGroupInAnOpenBatchIsFound() {
        record(0, "app/0123abcd/q/7.a1.1", 0, 1);
        record(1, "app/0123abcd/q/7.a1.3", 0, 1);
        record(2, "app/0123abcd/q/7.b2.1", 0, 2);
        record(3, "app/0123abcd/q/7", 0, 3);
        WrittenRecords written = scan(new Replay(7, false, null, null).opened("a1"), Map.of(), Map.of(P0, 4L));
        assertEquals(1, written.remaining());
        assertTrue(written.take(0, 1, new byte[0]));
    }

    @Test
    void headersOfAnotherProducerMayHaveNoValue() {
        record(P0, 0, "app/0123abcd/q/7", new byte[3]);
        record(P0, 1, "app/0123abcd/q/7", new byte[0]);
        assertEquals(0, scan(STATEFUL, Map.of(), Map.of(P0, 2L)).remaining());
    }

    @Test
    void withoutStateRecordsFromThePositionsOnAreFoundWhateverTheirBatch() {
        record(0, "app/0123abcd/q/7", 0, 9);
        record(1, "app/0123abcd/q/7", 0, 10);
        record(2, "app/0123abcd/q/3", 0, 11);
        record(3, "app/0123abcd/q/7", 1, 0);
        WrittenRecords written = scan(STATELESS, Map.of(), Map.of(P0, 4L));
        assertEquals(3, written.remaining());
        assertFalse(written.take(0, 9, null));
        assertEquals(Map.of(new TopicPartition("in", 0), 12L, new TopicPartition("in", 1), 1L), written.ends());
    }

    @Test
    void eachPartitionIsReadFromItsOffset() {
        targets.updateBeginningOffsets(Map.of(P0, 0L, P1, 0L));
        record(P0, 5, "app/0123abcd/q/7", RecordHeaderNames.identity(0, 1));
        record(P1, 0, "app/0123abcd/q/7", RecordHeaderNames.identity(0, 2));
        WrittenRecords written = scan(STATEFUL, Map.of(P0, 5L), Map.of(P0, 6L, P1, 1L));
        assertEquals(2, written.remaining());
    }

    @Test
    void thePartitionEndsAfterTheMarkersOfItsTransactions() {
        record(0, "app/0123abcd/q/7", 0, 1);
        targets.markersUntil(P0, 2);
        assertEquals(1, scan(STATEFUL, Map.of(), Map.of(P0, 2L)).remaining());
    }

    @Test
    void aPartitionWithMarkersOnlyIsRead() {
        targets.markersUntil(P1, 6);
        assertEquals(0, scan(STATEFUL, Map.of(P1, 4L), Map.of(P1, 6L)).remaining());
    }

    @Test
    void anotherOpenTransactionIsWaitedFor() {
        record(0, "app/0123abcd/q/7", 0, 1);
        for (int poll = 0; poll < 5; poll++) {
            targets.schedulePollTask(() -> {});
        }
        targets.schedulePollTask(() -> targets.markersUntil(P0, 3));
        assertEquals(1, scan(STATEFUL, Map.of(), Map.of(P0, 3L)).remaining());
    }

    @Test
    void aTransactionThatStaysOpenIsAnErrorWithThePlace() {
        record(0, "app/0123abcd/q/7", 0, 1);
        TargetScan scan = new TargetScan(WRITER, STATEFUL, Duration.ofMillis(20), false);
        TimeoutException error =
                assertThrows(TimeoutException.class, () -> scan.read(targets, Map.of(), Map.of(P0, 3L)));
        assertTrue(error.getMessage().contains("t-0 from offset 1"), error.getMessage());
    }
}
