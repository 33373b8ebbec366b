package com.lsqlrunner.continuous;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.delivery.RecordSender;
import com.lsqlrunner.topic.FailedRecord;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.Test;

class ContinuousTaskTest {
    private static final TopicPartition P0 = new TopicPartition("t", 0);
    private static final TopicPartition P1 = new TopicPartition("t", 1);

    private final ContinuousTask task = new ContinuousTask();

    private Callback send() {
        task.read();
        return task.sending();
    }

    private ContinuousTask.Written written() {
        ContinuousTask.Written written = new ContinuousTask.Written();
        task.takeWritten(written);
        return written;
    }

    @Test
    void positionsAreWrittenWhenAllRecordsBeforeThemAreAcknowledged() {
        Callback first = send();
        Callback second = send();
        task.endInterval(Map.of(P0, 2L));
        second.onCompletion(null, null);
        assertEquals(Map.of(), written().positions);
        first.onCompletion(null, null);
        ContinuousTask.Written written = written();
        assertEquals(Map.of(P0, 2L), written.positions);
        assertEquals(2, written.recordsIn);
        assertEquals(2, written.recordsOut);
        assertEquals(0, written().recordsIn);
    }

    @Test
    void aLaterIntervalWaitsForTheEarlierOnes() {
        Callback first = send();
        task.endInterval(Map.of(P0, 1L));
        send().onCompletion(null, null);
        task.endInterval(Map.of(P0, 2L));
        assertEquals(Map.of(), written().positions);
        first.onCompletion(null, null);
        assertEquals(Map.of(P0, 2L), written().positions);
    }

    @Test
    void anIntervalWithoutRecordsToWriteIsWritten() {
        task.read();
        task.endInterval(Map.of(P0, 1L));
        assertEquals(Map.of(P0, 1L), written().positions);
    }

    @Test
    void failedRecordsAreCounted() {
        task.failed(new FailedRecord("skipped", "RECORD_MALFORMED", "t"));
        task.failed(new FailedRecord("skipped", "RECORD_MALFORMED", "t"));
        task.endInterval(Map.of(P0, 2L));
        assertEquals(Map.of("skipped/RECORD_MALFORMED/t", 2L), written().failed);
    }

    @Test
    void aRecordThatIsNotWrittenFailsTheTaskAndHoldsThePositions() {
        Callback first = send();
        assertDoesNotThrow(task::throwFailure);
        first.onCompletion(null, new RecordTooLargeException("too large"));
        task.endInterval(Map.of(P0, 1L));
        assertThrows(RecordTooLargeException.class, task::throwFailure);
        assertEquals(Map.of(), written().positions);
    }

    private static ConsumerRecords<byte[], byte[]> records(TopicPartition partition, long... offsets) {
        List<ConsumerRecord<byte[], byte[]>> records = LongStream.of(offsets)
                .mapToObj(offset -> new ConsumerRecord<byte[], byte[]>(
                        partition.topic(), partition.partition(), offset, null, null))
                .toList();
        return new ConsumerRecords<>(Map.of(partition, records));
    }

    @Test
    void thePolledPositionsAreAfterTheRecordsThatTheTaskHasGot() {
        assertEquals(Map.of(), task.polled());
        task.polled(records(P0, 3, 4, 7));
        task.polled(records(P1, 0));
        assertEquals(Map.of(P0, 8L, P1, 1L), task.polled());
        task.polled(records(P0, 9));
        assertEquals(Map.of(P0, 10L, P1, 1L), task.polled());
    }

    @Test
    void aPollWithoutRecordsKeepsThePolledPositions() {
        task.polled(records(P0, 3));
        Map<TopicPartition, Long> before = task.polled();
        task.polled(ConsumerRecords.empty());
        assertSame(before, task.polled());
    }

    @Test
    void aCommitIsOneOfTheSenderThatWritesTheRecords() {
        assertDoesNotThrow(task::commit);
        int[] commits = {0};
        RecordSender sender = new RecordSender() {
            @Override
            public void send(ProducerRecord<byte[], byte[]> record, Callback callback) {
                throw new AssertionError(record);
            }

            @Override
            public void commitTransaction() {
                commits[0]++;
            }

            @Override
            public void commit() {}

            @Override
            public void close() {}
        };
        task.writesWith(sender);
        task.commit();
        assertEquals(1, commits[0]);
    }
}
