package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

class WorkerSenderTest {
    private static final TopicPartition TARGET = new TopicPartition("t", 0);
    private static final long BATCH = 7;
    private static final int NUMBER = 2;
    private static final int PRODUCER_ID = 40;
    private static final Replay STATELESS =
            new Replay(BATCH, true, List.of(new InsertPositions(0, 0, "in", Map.of(0, 10L), List.of("out"))), null);

    private final WorkerProducers idle = new WorkerProducers(Duration.ofHours(1));
    private final Brokers brokers = new Brokers();

    /** A transactional id, whose epoch grows when a producer opens, and what the targets contain. */
    private static final class Brokers implements TaskBrokers {
        private int epoch = 3;
        private String id = "id";
        private boolean isOpen;
        private boolean isAborted;
        private boolean isOfProcess = true;
        private RuntimeException searchFails;
        private final List<MockProducer<byte[], byte[]>> opened = new ArrayList<>();
        private final List<String> searched = new ArrayList<>();
        private long[] lows = {};
        private long[] earlierLows = {};
        private Runnable beforeOpen = () -> {};

        private Id id() {
            return new Id(new ProducerOwner(PRODUCER_ID, epoch), isAborted, isOfProcess);
        }

        @Override
        public Id commitOpen(int number) {
            assertEquals(NUMBER, number);
            isOpen = false;
            return id();
        }

        @Override
        public Id describe(int number) {
            return id();
        }

        @Override
        public Producer<byte[], byte[]> open(int number) {
            beforeOpen.run();
            assertFalse(isOpen, "a producer that opens aborts the transaction");
            epoch++;
            isAborted = false;
            MockProducer<byte[], byte[]> producer =
                    new MockProducer<>(true, new ByteArraySerializer(), new ByteArraySerializer());
            producer.initTransactions();
            opened.add(producer);
            return producer;
        }

        @Override
        public TargetEnds ends() {
            return new TargetEnds(Map.of(TARGET, 90L), Map.of(TARGET.topic(), id));
        }

        @Override
        public WrittenRecords search(EarlierRecords records, Map<TopicPartition, Long> from) {
            if (searchFails != null) {
                throw searchFails;
            }
            searched.add(
                    from.get(TARGET) + "-" + records.until().get(TARGET) + (records.hasAborted() ? " committed" : ""));
            WrittenRecords written = new WrittenRecords();
            for (long low : records.replay().inserts() == null ? lows : earlierLows) {
                written.add(0, low);
            }
            return written;
        }
    }

    private static TaskTransactions tasks(EarlierRecords earlier, ProducerOwner known) {
        return new TaskTransactions(
                "app/0123abcd/q/",
                List.of("t"),
                Map.of(),
                Map.of(),
                Duration.ofHours(1).toNanos(),
                new TargetEnds(Map.of(TARGET, 50L), Map.of(TARGET.topic(), "id")),
                earlier,
                known == null ? Map.of() : Map.of(NUMBER, known));
    }

    private WorkerSender sender(ProducerOwner known, boolean isRetry) {
        return new WorkerSender(tasks(null, known), brokers, idle, BATCH, NUMBER, isRetry);
    }

    private static ProducerOwner epoch(int epoch) {
        return new ProducerOwner(PRODUCER_ID, epoch);
    }

    private static void write(RecordSender sender) {
        sender.send(new ProducerRecord<>("t", new byte[1]), null);
    }

    /** A task that writes one record and ends. */
    private TaskResult written(WorkerSender sender) {
        sender.begin();
        write(sender);
        sender.commit();
        sender.close();
        return sender.result();
    }

    @Test
    void aFirstAttemptWhoseIdIsKnownSearchesNothing() {
        TaskResult result = written(sender(epoch(3), false));
        assertEquals(List.of(), brokers.searched);
        assertEquals(new TaskResult(NUMBER, epoch(4), 0, List.of()), result);
    }

    @Test
    void theWorkerThatWroteTheBatchBeforeContinuesWithItsProducer() {
        ProducerOwner owner = written(sender(epoch(3), false)).owner();
        assertEquals(owner, written(sender(owner, false)).owner());
        assertEquals(1, brokers.opened.size());
        assertEquals(2, brokers.opened.get(0).history().size());
    }

    @Test
    void anIdThatAnotherWorkerHasTakenSinceIsTakenBack() {
        written(sender(epoch(3), false));
        brokers.epoch = 5; // another worker has written batches
        TaskResult result = written(sender(epoch(5), false));
        assertEquals(epoch(6), result.owner());
        assertTrue(brokers.opened.get(0).closed());
        assertEquals(List.of(), brokers.searched);
    }

    @Test
    void anIdThatAnUnknownAttemptHasTakenIsSearched() {
        brokers.epoch = 4;
        brokers.lows = new long[] {1, 2};
        WrittenRecords records = sender(epoch(3), false).begin();
        assertEquals(List.of("50-90"), brokers.searched);
        assertEquals(2, records.remaining());
    }

    @Test
    void anIdThatTheDriverDoesNotKnowIsSearched() {
        assertNull(sender(null, false).begin());
        assertEquals(List.of("50-90 committed"), brokers.searched);
    }

    @Test
    void aSecondAttemptCommitsWhatIsOpenAndSearches() {
        brokers.epoch = 4;
        brokers.isOpen = true;
        brokers.lows = new long[] {1};
        assertTrue(sender(epoch(3), true).begin().take(0, 1, null));
        assertEquals(List.of("50-90"), brokers.searched);
    }

    @Test
    void aSecondAttemptSearchesATargetThatWasCreatedAgainFromItsFirstRecord() {
        brokers.epoch = 4;
        brokers.id = "another";
        sender(epoch(3), true).begin();
        assertEquals(List.of("0-90"), brokers.searched);
    }

    @Test
    void aSecondAttemptDoesNotContinueWithTheProducerOfTheFirst() {
        ProducerOwner owner = written(sender(epoch(3), false)).owner();
        sender(owner, true).begin();
        assertTrue(brokers.opened.get(0).closed());
        assertEquals(List.of("50-90"), brokers.searched);
    }

    @Test
    void onlyCommittedRecordsCountIfATransactionMayHaveBeenAborted() {
        brokers.isAborted = true;
        brokers.epoch = 4;
        sender(epoch(3), true).begin();
        brokers.epoch = 9;
        sender(epoch(3), true).begin();
        assertEquals(List.of("50-90 committed", "50-90 committed"), brokers.searched);
    }

    @Test
    void onlyCommittedRecordsCountIfAnotherAttemptTookTheIdAtTheSameTime() {
        brokers.beforeOpen = () -> brokers.epoch++;
        sender(epoch(3), false).begin();
        assertEquals(List.of("50-90 committed"), brokers.searched);
    }

    @Test
    void anIdOfAnotherProcessIsNotTaken() {
        brokers.isOfProcess = false;
        WorkerSender sender = sender(epoch(3), true);
        assertThrows(ProducerFencedException.class, sender::begin);
        assertEquals(0, brokers.opened.size());
        sender.close();
    }

    @Test
    void anIdThatAnotherProcessHasTakenAtTheSameTimeIsLeft() {
        brokers.beforeOpen = () -> brokers.isOfProcess = false;
        assertThrows(ProducerFencedException.class, sender(epoch(3), true)::begin);
        assertTrue(brokers.opened.get(0).closed());
    }

    @Test
    void eachTaskSearchesTheRecordsOfAnEarlierProcessAndCountsThoseThatItLeavesOut() {
        EarlierRecords earlier = new EarlierRecords(STATELESS, Map.of(TARGET, 80L), false, Map.of());
        brokers.earlierLows = new long[] {11, 12};
        WorkerSender first = new WorkerSender(tasks(earlier, epoch(3)), brokers, idle, BATCH, NUMBER, false);
        assertTrue(first.begin().take(0, 11, null));
        assertEquals(List.of("50-80"), brokers.searched);
        assertEquals(1, first.result().left());
    }

    @Test
    void aSecondAttemptDoesNotCountWhatItLeavesOutOfTheFirst() {
        EarlierRecords earlier = new EarlierRecords(STATELESS, Map.of(TARGET, 80L), false, Map.of());
        brokers.earlierLows = new long[] {11, 12};
        brokers.lows = new long[] {13, 14};
        brokers.epoch = 4;
        WorkerSender second = new WorkerSender(tasks(earlier, epoch(3)), brokers, idle, BATCH, NUMBER, true);
        WrittenRecords records = second.begin();
        assertEquals(4, records.remaining());
        assertTrue(records.take(0, 11, null) && records.take(0, 13, null) && records.take(0, 14, null));
        assertEquals(List.of("50-80", "80-90"), brokers.searched);
        assertEquals(1, second.result().left());
    }

    @Test
    void aTaskWithoutRecordsAsksNothing() {
        WorkerSender sender = sender(epoch(3), true);
        sender.commit();
        sender.close();
        assertNull(sender.result());
        assertEquals(0, brokers.opened.size());
    }

    @Test
    void aTaskThatFailsLeavesItsTransactionOpenAndItsProducerIsNotUsedAgain() {
        WorkerSender sender = sender(epoch(3), false);
        sender.begin();
        write(sender);
        sender.abort();
        sender.close();
        MockProducer<byte[], byte[]> producer = brokers.opened.get(0);
        assertTrue(producer.closed());
        assertEquals(0, producer.commitCount());
        assertNull(idle.take("app/0123abcd/q/" + NUMBER));
    }

    @Test
    void aSearchThatFailsClosesTheProducer() {
        brokers.searchFails = new TimeoutException("no answer");
        WorkerSender sender = sender(epoch(3), true);
        assertSame(brokers.searchFails, assertThrows(KafkaException.class, sender::begin));
        assertTrue(brokers.opened.get(0).closed());
        sender.close();
    }

    @Test
    void producersThatAreNotUsedAreClosed() {
        WorkerProducers impatient = new WorkerProducers(Duration.ZERO);
        new WorkerSender(tasks(null, epoch(3)), brokers, impatient, BATCH, NUMBER, false).begin();
        MockProducer<byte[], byte[]> unused =
                new MockProducer<>(true, new ByteArraySerializer(), new ByteArraySerializer());
        impatient.release("other", new WorkerProducers.Owned(unused, epoch(1)));
        assertFalse(unused.closed());
        impatient.release("third", new WorkerProducers.Owned(brokers.opened.get(0), epoch(4)));
        assertTrue(unused.closed());
        assertNull(impatient.take("other"));
    }
}
