package com.lsqlrunner.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.sink.MutedQueries;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BatchTriggerTest {
    private static final TopicPartition A0 = new TopicPartition("a", 0);
    private static final TopicPartition A1 = new TopicPartition("a", 1);
    private static final TopicPartition B0 = new TopicPartition("b", 0);
    private static final Duration NO_PACE = Duration.ZERO;
    private static final Duration PACE = Duration.ofMillis(60);
    private static final Duration NEVER = Duration.ofHours(1);

    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>(OffsetResetStrategy.NONE) {
        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
            if (pausesAfterPoll && !records.isEmpty()) {
                pause(assignment());
            }
            return records;
        }
    };
    private boolean pausesAfterPoll;
    private int polls;

    private BatchTrigger trigger(Duration pace, Object... streams) {
        BatchTrigger trigger = new BatchTrigger(
                "query", pace, () -> consumer.closed() ? new MockConsumer<>(OffsetResetStrategy.NONE) : consumer);
        for (Object stream : streams) {
            trigger.add(stream);
        }
        return trigger;
    }

    private void countNextPoll() {
        consumer.schedulePollTask(() -> polls++);
    }

    @Test
    void theConsumerWaitsAtThePositionsOfAllStreams() {
        BatchTrigger trigger = trigger(NO_PACE, "a", "b");
        trigger.await("a", Map.of(A0, 5L));
        trigger.await("b", Map.of(B0, 7L));
        assertTrue(consumer.assignment().isEmpty(), "the position of the second stream was not known");

        trigger.await("a", Map.of(A0, 6L));

        assertEquals(Set.of(A0, B0), consumer.assignment());
        assertEquals(6L, consumer.position(A0));
        assertEquals(7L, consumer.position(B0));
    }

    @Test
    void onlyTheFirstStreamWaits() {
        BatchTrigger trigger = trigger(NO_PACE, "a", "b");
        trigger.await("a", Map.of(A0, 0L));
        countNextPoll();

        trigger.await("b", Map.of(B0, 0L));

        assertEquals(0, polls);
    }

    @Test
    void theNextBatchBeginsAfterThePace() {
        BatchTrigger trigger = trigger(PACE, "a");
        trigger.await("a", Map.of(A0, 0L));
        trigger.planned("a", Map.of(A0, 3L), Map.of(A0, 3L));

        assertTrue(trigger.await("a", Map.of(A0, 3L)) >= PACE.toMillis() - 5);
    }

    @Test
    void aBatchThatBeginsAtOnceReadsNothingBefore() {
        BatchTrigger trigger = trigger(NEVER, "a");
        countNextPoll();

        assertEquals(0, trigger.begin("a", Map.of(A0, 5L)));

        assertEquals(0, polls);
        trigger.planned("a", Map.of(A0, 8L), Map.of(A0, 8L));
        assertEquals(3, trigger.plannedRecords());
    }

    @Test
    void theFirstBatchBeginsAtOnce() {
        assertTrue(trigger(NEVER, "a").await("a", Map.of(A0, 0L)) < NEVER.toMillis());
    }

    @Test
    void thePlannedRecordsAreThoseOfAllStreams() {
        BatchTrigger trigger = trigger(NO_PACE, "a", "b");
        trigger.await("a", Map.of(A0, 5L));
        trigger.planned("a", Map.of(A0, 8L), Map.of(A0, 8L));
        trigger.planned("b", Map.of(B0, 4L), Map.of(B0, 4L));
        assertEquals(7, trigger.plannedRecords());

        trigger.planned("a", Map.of(A0, 8L), Map.of(A0, 8L));

        assertEquals(4, trigger.plannedRecords());
    }

    @Test
    void withABacklogBatchesFollowEachOther() {
        BatchTrigger trigger = trigger(NEVER, "a");
        trigger.await("a", Map.of(A0, 0L));
        trigger.planned("a", Map.of(A0, 3L), Map.of(A0, 4L));
        countNextPoll();

        trigger.await("a", Map.of(A0, 3L));

        assertEquals(0, polls);
    }

    @Test
    void aPartitionThatTheBatchDoesNotReadIsNoBacklog() {
        BatchTrigger trigger = trigger(NO_PACE, "a");
        trigger.await("a", Map.of(A0, 0L));
        trigger.planned("a", Map.of(A0, 3L), Map.of(A0, 3L, new TopicPartition("a", 1), 9L));
        countNextPoll();

        trigger.await("a", Map.of(A0, 3L));

        assertEquals(1, polls);
    }

    @Test
    void aStopEndsThePause() throws InterruptedException {
        String query = "aStopEndsThePause";
        BatchTrigger trigger = BatchTrigger.join(query, "a", NEVER, () -> consumer);
        trigger.await("a", Map.of(A0, 0L));
        trigger.planned("a", Map.of(A0, 3L), Map.of(A0, 3L));
        Thread waiting = new Thread(() -> trigger.await("a", Map.of(A0, 3L)));
        waiting.start();

        BatchTrigger.stop(query);

        waiting.join();
        trigger.leave("a");
        assertTrue(consumer.closed());
    }

    @Test
    void aStoppedQueryDoesNotWait() {
        String query = "aStoppedQueryDoesNotWait";
        BatchTrigger trigger = BatchTrigger.join(query, "a", NEVER, () -> consumer);
        trigger.await("a", Map.of(A0, 0L));
        BatchTrigger.stop(query);
        countNextPoll();

        trigger.await("a", Map.of(A0, 0L));

        assertEquals(0, polls);
        trigger.leave("a");
    }

    @Test
    void aWakeEndsOneWait() {
        BatchTrigger trigger = BatchTrigger.join("aWakeEndsOneWait", "a", NO_PACE, () -> consumer);
        trigger.await("a", Map.of(A0, 0L));

        BatchTrigger.wakeAll("aWakeEndsOneWait");

        trigger.await("a", Map.of(A0, 0L));
        countNextPoll();
        trigger.await("a", Map.of(A0, 0L));
        assertEquals(1, polls);
        trigger.leave("a");
    }

    @Test
    void recordsThatSparkDoesNotReadCauseAPauseAndNoLoop() {
        BatchTrigger trigger = trigger(NO_PACE, "a");
        consumer.updateBeginningOffsets(Map.of(A0, 0L));
        consumer.schedulePollTask(() -> consumer.addRecord(new ConsumerRecord<>("a", 0, 0L, new byte[0], new byte[0])));
        trigger.await("a", Map.of(A0, 0L));
        trigger.planned("a", Map.of(A0, 0L), Map.of(A0, 0L)); // such as the records of an open transaction

        assertTrue(trigger.await("a", Map.of(A0, 0L)) >= 90);
    }

    @Test
    void aConsumerThatAnArrivingRecordHasPausedContinues() {
        BatchTrigger trigger = trigger(NO_PACE, "a");
        consumer.updateBeginningOffsets(Map.of(A0, 0L));
        consumer.schedulePollTask(() -> consumer.addRecord(new ConsumerRecord<>("a", 0, 0L, new byte[0], new byte[0])));
        pausesAfterPoll = true;
        trigger.await("a", Map.of(A0, 0L));
        assertEquals(Set.of(A0), consumer.paused());

        trigger.await("a", Map.of(A0, 1L));

        assertFalse(consumer.closed());
        assertEquals(Set.of(), consumer.paused());
    }

    @Test
    void aConsumerThatMayHaveRequestedTheNextRecordsIsReplaced() {
        BatchTrigger trigger = trigger(NO_PACE, "a");
        consumer.updateBeginningOffsets(Map.of(A0, 0L));
        consumer.schedulePollTask(() -> consumer.addRecord(new ConsumerRecord<>("a", 0, 0L, null, null)));

        trigger.await("a", Map.of(A0, 0L));

        assertTrue(consumer.closed());
    }

    @Test
    void anErrorOfTheConsumerIsLeftToSpark() {
        BatchTrigger trigger = trigger(NO_PACE, "a");
        consumer.schedulePollTask(() -> consumer.setPollException(new KafkaException("refused")));

        trigger.await("a", Map.of(A0, 0L));

        countNextPoll();
        trigger.await("a", Map.of(A0, 0L));
        assertEquals(1, polls);
        assertFalse(consumer.closed());
    }

    private static Rebuild rebuild(String... more) {
        Map<String, String> options = new HashMap<>(Map.of("rebuild.ends", "{\"a\": {\"0\": 5}, \"b\": {\"0\": 7}}"));
        for (int index = 0; index < more.length; index += 2) {
            options.put(more[index], more[index + 1]);
        }
        return new Rebuild(new CaseInsensitiveStringMap(options));
    }

    @Test
    void aQueryIsMutedUntilTwoBatchesWithoutRecordsHaveFollowedThoseOfARebuild() {
        BatchTrigger trigger = trigger(NO_PACE, "a", "b");
        Rebuild rebuild = rebuild();
        trigger.rebuild("a", rebuild, false);
        trigger.rebuild("b", rebuild, false);

        trigger.await("a", Map.of(A0, 2L));
        assertEquals(Map.of(A0, 5L), trigger.within("a", Map.of(A0, 2L), Map.of(A0, 9L)));
        trigger.planned("a", Map.of(A0, 5L), Map.of(A0, 9L));
        trigger.planned("b", Map.of(B0, 6L), Map.of(B0, 9L));
        trigger.await("a", Map.of(A0, 5L));
        trigger.planned("b", Map.of(B0, 7L), Map.of(B0, 9L));
        for (int batch = 0; batch < 2; batch++) {
            trigger.await("a", Map.of(A0, 5L));
            assertTrue(MutedQueries.contains("query"));
            assertEquals(Map.of(A0, 5L), trigger.within("a", Map.of(A0, 5L), Map.of(A0, 9L)));
        }

        trigger.await("a", Map.of(A0, 5L));

        assertFalse(MutedQueries.contains("query"));
        assertEquals(Map.of(A0, 9L), trigger.within("a", Map.of(A0, 5L), Map.of(A0, 9L)));
    }

    @Test
    void aTableIsReadAgainBeforeAStream() {
        BatchTrigger trigger = trigger(NO_PACE, "a", "b");
        Rebuild rebuild = rebuild();
        trigger.rebuild("a", rebuild, false);
        trigger.rebuild("b", rebuild, true);

        assertEquals(Map.of(A0, 2L), trigger.within("a", Map.of(A0, 2L), Map.of(A0, 9L)));
        assertEquals(Map.of(B0, 7L), trigger.within("b", Map.of(B0, 0L), Map.of(B0, 9L)));
        trigger.planned("b", Map.of(B0, 7L), Map.of(B0, 9L));
        assertEquals(Map.of(A0, 5L), trigger.within("a", Map.of(A0, 2L), Map.of(A0, 9L)));
    }

    @Test
    void aGreenQueryReadsUpToTheNextBatchOfItsBlueQueryAndStaysMuted() throws Exception {
        BatchTrigger trigger = BatchTrigger.join("query", "a", NO_PACE, () -> null);
        trigger.rebuild("a", rebuild("rebuild.blue.topics", "a", "rebuild.waits", "true"), false);
        trigger.planned("a", Map.of(A0, 5L), Map.of(A0, 9L));

        Thread waiting = new Thread(() -> trigger.await("a", Map.of(A0, 5L)));
        waiting.start();
        waiting.join(100);
        assertTrue(waiting.isAlive());
        BatchTrigger.follow("query", "{\"a\": {\"0\": 8}}", 60);
        waiting.join(10_000);

        assertFalse(waiting.isAlive());
        assertTrue(MutedQueries.contains("query"));
        assertEquals(Map.of(A0, 8L), trigger.within("a", Map.of(A0, 5L), Map.of(A0, 9L)));
        assertEquals(61, trigger.limitMs(1));
        trigger.planned("a", Map.of(A0, 8L), Map.of(A0, 9L));
        BatchTrigger.follow("query", "{\"a\": {\"0\": 8, \"1\": 3}}", 60);
        trigger.await("a", Map.of(A0, 8L));
        assertEquals(
                Map.of(A0, 8L, A1, 3L),
                trigger.within("a", Map.of(A0, 8L), Map.of(A0, 9L, A1, 4L)),
                "an added partition");
        BatchTrigger.stop("query");
        trigger.await("a", Map.of(A0, 8L));
        trigger.leave("a");
    }

    @Test
    void aGreenQueryReadsOnATableThatItsBlueQueryDoesNotRead() {
        BatchTrigger trigger = trigger(NO_PACE, "a", "b");
        Rebuild rebuild = rebuild("rebuild.blue.topics", "a");
        trigger.rebuild("a", rebuild, false);
        trigger.rebuild("b", rebuild, true);

        assertEquals(Map.of(B0, 9L), trigger.within("b", Map.of(B0, 7L), Map.of(B0, 9L)));
        trigger.planned("b", Map.of(B0, 9L), Map.of(B0, 9L));
        assertEquals(Map.of(A0, 5L), trigger.within("a", Map.of(A0, 2L), Map.of(A0, 9L)));
    }

    @Test
    void aQueryThatEndsIsNotMuted() {
        BatchTrigger trigger = trigger(NO_PACE, "a");
        trigger.rebuild("a", rebuild(), false);

        trigger.leave("a");

        assertFalse(MutedQueries.contains("query"));
    }

    @Test
    void theConsumerHasTheConnectionOfTheSource() {
        Map<String, Object> settings = WaitingConsumer.settings(Map.of(
                "kafka.bootstrap.servers", "b:9092",
                "kafka.isolation.level", "read_committed",
                "kafka.group.id", "g",
                "kafka.request.timeout.ms", "400",
                "subscribe", "a"));

        assertEquals("b:9092", settings.get("bootstrap.servers"));
        assertEquals("read_committed", settings.get("isolation.level"));
        assertEquals(200, settings.get("fetch.max.wait.ms"));
        assertFalse(settings.containsKey("group.id"));
        assertFalse(settings.containsKey("subscribe"));
    }
}
