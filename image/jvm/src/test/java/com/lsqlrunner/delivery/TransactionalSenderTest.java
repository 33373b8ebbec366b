package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TransactionalSenderTest {
    private static final long LONG = Duration.ofHours(1).toNanos();

    private final FakeProducers producers = new FakeProducers();
    private final ProducerSlots slots = producers.slots(Map.of());

    private FakeProducers.Fake producer() {
        return producers.opened().get(0);
    }

    private static void send(RecordSender sender, int records) {
        for (int record = 0; record < records; record++) {
            sender.send(new ProducerRecord<>("t", new byte[] {(byte) record}), null);
        }
    }

    @AfterEach
    void nothingIsAborted() {
        assertTrue(producers.opened().stream().noneMatch(FakeProducers.Fake::hasAborted));
        assertTrue(producers.opened().stream()
                .allMatch(each -> !each.closed() || Duration.ZERO.equals(each.closeTimeout())));
    }

    @Test
    void aTaskWithoutRecordsBeginsNoTransaction() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        sender.commit();
        sender.close();
        assertFalse(producer().transactionInFlight());
        assertEquals(0, producer().commitCount());
        assertFalse(producer().closed());
    }

    @Test
    void aTransactionBeginsWithTheFirstRecordAndIsCommittedAtTheEnd() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        send(sender, 1);
        assertTrue(producer().transactionInFlight());
        send(sender, 1_000);
        assertEquals(0, producer().commitCount());
        sender.commit();
        assertEquals(1, producer().commitCount());
        assertEquals(1_001, producer().history().size());
        assertFalse(producer().transactionInFlight());
    }

    @Test
    void aTransactionIsCommittedAfterTheInterval() {
        RecordSender sender = TransactionalSender.of(slots, 0);
        send(sender, 1_000);
        assertTrue(producer().commitCount() >= 10, () -> producer().commitCount() + " commits");
        assertTrue(producer().transactionInFlight());
        sender.commit();
        assertEquals(1_000, producer().history().size());
    }

    @Test
    void recordsAfterACommitAreInAnotherTransaction() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        send(sender, 2);
        sender.commitTransaction();
        sender.commitTransaction();
        assertEquals(1, producer().commitCount());
        send(sender, 1);
        assertTrue(producer().transactionInFlight());
        sender.commit();
        assertEquals(2, producer().commitCount());
    }

    @Test
    void theNextTaskTakesTheProducerOfATaskThatHasCommitted() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        send(sender, 1);
        sender.commit();
        sender.close();
        send(TransactionalSender.of(slots, LONG), 1);
        assertEquals(1, producers.opened().size());
        assertFalse(producer().closed());
    }

    @Test
    void tasksAtTheSameTimeHaveProducersOfTheirOwn() {
        RecordSender first = TransactionalSender.of(slots, LONG);
        RecordSender second = TransactionalSender.of(slots, LONG);
        send(first, 1);
        send(second, 1);
        first.commit();
        assertTrue(producers.opened().get(1).transactionInFlight());
    }

    @Test
    void aTaskThatEndsWithinATransactionLeavesItOpenAndStopsTheQuery() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        send(sender, 1);
        sender.close();
        assertTrue(producer().closed());
        assertEquals(0, producer().commitCount());
        assertThrows(KafkaException.class, () -> TransactionalSender.of(slots, LONG));
    }

    @Test
    void aSecondAttemptOfATaskThatHasFailedBetweenTwoTransactionsWritesNothing() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        send(sender, 1);
        sender.commitTransaction();
        sender.close();
        assertTrue(producer().closed());
        assertThrows(KafkaException.class, () -> TransactionalSender.of(slots, LONG));
    }

    @Test
    void aCommitThatFailsLeavesTheTransactionOpen() {
        RecordSender sender = TransactionalSender.of(slots, LONG);
        send(sender, 1);
        producer().commitTransactionException = new TimeoutException("no answer");
        TimeoutException error = assertThrows(TimeoutException.class, sender::commit);
        assertSame(producer().commitTransactionException, error);
        sender.close();
        assertTrue(producer().closed());
        assertTrue(slots.close());
    }
}
