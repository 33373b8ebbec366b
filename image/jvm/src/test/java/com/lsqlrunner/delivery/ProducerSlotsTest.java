package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.delivery.ProducerSlots.Slot;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.junit.jupiter.api.Test;

class ProducerSlotsTest {
    private final FakeProducers producers = new FakeProducers();
    private final ProducerSlots slots = producers.slots(Map.of());

    private List<Integer> takeThree() {
        return List.of(
                slots.take().number(), slots.take().number(), slots.take().number());
    }

    @Test
    void theFreeProducerWithTheLeastNumberIsTakenFirst() {
        Slot first = slots.take();
        Slot second = slots.take();
        Slot third = slots.take();
        assertEquals(List.of("q/0", "q/1", "q/2"), producers.ids());
        slots.release(third);
        slots.release(first);
        assertSame(first.producer(), slots.take().producer());
        assertSame(third.producer(), slots.take().producer());
        assertEquals(3, slots.take().number());
        assertFalse(second.producer() == third.producer());
    }

    @Test
    void aProducerCanBeginTransactionsWhenItIsTaken() {
        slots.take();
        assertTrue(producers.opened().get(0).transactionInitialized());
    }

    @Test
    void theProducersOfAnEarlierProcessAreFencedAndThenTaken() {
        slots.fence(2);
        assertEquals(List.of("q/0", "q/1"), producers.ids());
        assertTrue(producers.opened().stream().allMatch(FakeProducers.Fake::transactionInitialized));
        assertEquals(List.of(0, 1, 2), takeThree());
        assertEquals(List.of("q/0", "q/1", "q/2"), producers.ids());
    }

    @Test
    void afterAFailureNoProducerIsOpenedOrTaken() {
        Slot failed = slots.take();
        slots.release(slots.take());
        slots.discard(failed);
        assertTrue(producers.opened().get(0).closed());
        assertThrows(KafkaException.class, slots::take);
        assertEquals(2, producers.opened().size());
        assertTrue(slots.close());
    }

    @Test
    void theEndClosesTheFreeProducers() {
        slots.fence(2);
        assertFalse(slots.close());
        assertTrue(producers.opened().stream().allMatch(FakeProducers.Fake::closed));
        assertThrows(KafkaException.class, slots::take);
    }

    @Test
    void aTaskThatStillWritesMayHaveAnOpenTransactionAndCannotWriteAnyMore() {
        slots.take();
        assertTrue(slots.close());
        assertTrue(producers.opened().get(0).closed());
    }

    @Test
    void aTaskMayReturnItsProducerAfterTheEnd() {
        Slot slot = slots.take();
        slots.close();
        slots.release(slot);
        assertTrue(producers.opened().get(0).closed());
        assertThrows(KafkaException.class, slots::take);
    }

    @Test
    void theNumberOfAProducerThatTheBrokersRefuseIsUsedAgain() {
        producers.refuseTimeoutsOver(0, new TransactionalIdAuthorizationException("not allowed"));
        assertThrows(TransactionalIdAuthorizationException.class, slots::take);
        producers.refuseTimeoutsOver(900_000, null);
        assertEquals(0, slots.take().number());
    }

    @Test
    void aTransactionMayBeOpenAsLongAsTheBrokersAllow() {
        slots.take();
        assertEquals(List.of(900_000), producers.timeouts());
        assertEquals(0, slots.limitMs());

        producers.refuseTimeoutsOver(130_500, new InvalidTxnTimeoutException("too long"));
        slots.take();
        assertEquals(130_000, producers.timeouts().get(producers.timeouts().size() - 1));
        assertEquals(130_000, slots.limitMs());

        int opened = producers.opened().size();
        slots.take();
        assertEquals(List.of(130_000), producers.timeouts().subList(opened, opened + 1), "it is searched once");
        assertEquals(opened + 1, producers.opened().size());

        producers.refuseTimeoutsOver(1_000, new InvalidTxnTimeoutException("too long"));
        slots.take();
        assertEquals(1_000, slots.limitMs());
        assertTrue(producers.opened().stream().allMatch(each -> each.closed() || each.transactionInitialized()));
    }

    @Test
    void theErrorOfATimeoutIsKnownByTheMessageThatTheClientMakes() {
        producers.refuseTimeoutsOver(
                60_000,
                new KafkaException("Unexpected error in InitProducerIdResponse; The transaction timeout is larger than"
                        + " the maximum value allowed by the broker (as configured by transaction.max.timeout.ms)."));
        slots.take();
        assertEquals(60_000, slots.limitMs());
    }

    @Test
    void theTimeoutOfTheProgramIsUsedAlone() {
        producers.refuseTimeoutsOver(60_000, new InvalidTxnTimeoutException("too long"));
        ProducerSlots chosen = producers.slots(Map.of("transaction.timeout.ms", "70000"));
        assertThrows(InvalidTxnTimeoutException.class, chosen::take);
        assertEquals(List.of(70_000), producers.timeouts());
    }

    @Test
    void aProducerThatTheBrokersRefuseIsClosed() {
        producers.refuseTimeoutsOver(0, new TransactionalIdAuthorizationException("not allowed"));
        assertThrows(TransactionalIdAuthorizationException.class, slots::take);
        assertEquals(1, producers.opened().size());
        assertTrue(producers.opened().get(0).closed());
    }
}
