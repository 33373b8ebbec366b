package com.lsqlrunner.topic;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.Test;

class ContinuousTaskTest {
    private static final TopicPartition P0 = new TopicPartition("t", 0);

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
}
