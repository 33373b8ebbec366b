package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.fs.AtomicFile;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class WorkerTransactionsTest {
    private static final TransactionalOutput.Settings SETTINGS = new TransactionalOutput.Settings(
            "app/0123abcd/q/",
            List.of("t"),
            AtomicFile.at("unused"),
            AtomicFile.at("unused"),
            AtomicFile.at("unused"),
            Map.of(),
            Map.of(),
            Duration.ofMillis(100),
            1,
            true,
            false);

    private static final TopicPartition SOURCE = new TopicPartition("in", 0);

    private final WorkerTransactions transactions = new WorkerTransactions(SETTINGS, null, Set.of());

    private static TaskResult left(long records) {
        return new TaskResult(0, new ProducerOwner(1, 1), records, List.of());
    }

    private void ended(long position, TaskResult... results) {
        transactions.ended(List.of(results));
        transactions.forget(Map.of(SOURCE, position));
    }

    private void leaveOut(Map<TopicPartition, Long> ends, long count) {
        transactions.leaveOut(
                new EarlierRecords(new Replay(7, true, null, null), Map.of(), false, Map.of()), count, ends);
    }

    @Test
    void theNextBatchKnowsTheOwnersThatTasksHaveReported() {
        ended(9, new TaskResult(0, new ProducerOwner(1, 5), 0, List.of()));
        ended(9, new TaskResult(1, new ProducerOwner(2, 0), 0, List.of()));
        assertEquals(
                Map.of(0, new ProducerOwner(1, 5), 1, new ProducerOwner(2, 0)),
                transactions.tasks(new TargetEnds(Map.of(), Map.of())).owners());
    }

    @Test
    void withStateOnlyTheBatchThatRunsAgainSearchesRecordsOfAnEarlierProcess() {
        leaveOut(Map.of(), 2);
        ended(9, left(1));
        assertFalse(transactions.hasEarlier());
        assertNull(transactions.tasks(new TargetEnds(Map.of(), Map.of())).earlier());
    }

    @Test
    void withoutStateBatchesSearchUntilAllRecordsOfAnEarlierProcessWereLeftOut() {
        leaveOut(Map.of(SOURCE, 10L), 3);
        ended(9, left(1), left(1));
        assertTrue(transactions.hasEarlier());
        ended(9, left(1));
        assertFalse(transactions.hasEarlier());
    }

    @Test
    void withoutStateTheSearchEndsWhenTheSourceRecordsHaveBeenRead() {
        leaveOut(Map.of(SOURCE, 10L), 3);
        ended(10, left(1));
        assertFalse(transactions.hasEarlier());
    }

    @Test
    void eachProcessHasATimeoutThatEarlierOnesDoNotHave() {
        Set<Long> used = new HashSet<>();
        for (int mark = 1; mark < 999; mark++) {
            used.add(900_000L - mark);
        }
        assertEquals(999, WorkerTransactions.unusedReductionMs(used));
    }

    @Test
    void tasksHaveNoCredentialsInTheirName() {
        assertFalse(transactions
                .tasks(new TargetEnds(Map.of(), Map.of()))
                .toString()
                .contains("{"));
    }
}
