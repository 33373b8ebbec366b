package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.fs.AtomicFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InsertHistoryTest {
    private static final TopicPartition OUT = new TopicPartition("out", 0);
    private static final TopicPartition OTHER = new TopicPartition("other", 0);
    private static final InsertPositions KEPT = insert(1, "out");
    private static final InsertPositions REMOVED = insert(2, "other");

    @TempDir
    private Path folder;

    private static InsertPositions insert(int tag, String target) {
        return new InsertPositions(tag, 0, "in", Map.of(), List.of(target));
    }

    private InsertHistory history() {
        return InsertHistory.in(AtomicFile.at(folder.resolve("written-inserts").toString()));
    }

    private void begin(List<InsertPositions> present, long from, long end) {
        history().begin(present, Map.of(OUT, from, OTHER, from), new TargetEnds(Map.of(OUT, end, OTHER, end), ids));
    }

    /** The ids of the targets. */
    private Map<String, String> ids = Map.of("out", "1", "other", "2");

    private Map<TopicPartition, TargetRange> returned(InsertPositions... present) {
        return history().returned(List.of(present), Map.of(OUT, 1_000L, OTHER, 1_000L));
    }

    @Test
    void theFirstStartHasNoHistory() {
        assertEquals(Set.of(), history().targetsOfRemoved(List.of(KEPT)));
        begin(List.of(KEPT, REMOVED), 0, 10);
        assertEquals(Map.of(), returned(KEPT, REMOVED));
    }

    @Test
    void theTargetsOfARemovedInsertAreKnown() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        assertEquals(Set.of("other"), history().targetsOfRemoved(List.of(KEPT)));
    }

    @Test
    void anInsertThatComesBackIsSearchedBetweenTheOffsetsOfItsRemoval() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        begin(List.of(KEPT), 90, 95);
        assertEquals(Map.of(), returned(KEPT));
        assertEquals(Map.of(OTHER, new TargetRange(20, 30)), returned(KEPT, REMOVED));
    }

    @Test
    void aTargetThatWasCreatedAgainHasNoneOfItsRecords() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        ids = Map.of("out", "1", "other", "3");
        begin(List.of(KEPT, REMOVED), 40, 45);
        assertEquals(Map.of(), returned(KEPT, REMOVED));
    }

    @Test
    void aKillBeforeItsRecordsAreProcessedAgainChangesNothing() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        begin(List.of(KEPT, REMOVED), 90, 95);
        assertEquals(Map.of(OTHER, new TargetRange(20, 30)), returned(REMOVED));
    }

    @Test
    void aSecondRemovalJoinsTheOffsets() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        begin(List.of(KEPT, REMOVED), 40, 45);
        begin(List.of(KEPT), 50, 60);
        assertEquals(Map.of(OTHER, new TargetRange(20, 60)), returned(REMOVED));
    }

    @Test
    void theOffsetsAreForgottenWhenThePositionsHavePassedTheRecords() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        begin(List.of(KEPT, REMOVED), 40, 45);
        history().settle();
        assertEquals(Map.of(), returned(REMOVED));
    }

    @Test
    void thoseOfInsertsThatAreStillRemovedAreKept() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        history().settle();
        assertEquals(Map.of(OTHER, new TargetRange(20, 30)), returned(REMOVED));
    }

    @Test
    void aTargetThatWasCreatedAgainIsNotSearched() {
        begin(List.of(KEPT, REMOVED), 0, 10);
        begin(List.of(KEPT), 20, 30);
        assertEquals(Map.of(), history().returned(List.of(REMOVED), Map.of(OTHER, 29L)));
        assertEquals(Map.of(), history().returned(List.of(REMOVED), Map.of()));
    }

    @Test
    void theNewestHundredRemovedInsertsAreKept() {
        List<InsertPositions> inserts = new ArrayList<>();
        for (int tag = 0; tag <= 101; tag++) {
            inserts.add(insert(tag, "out"));
        }
        for (int tag = 0; tag <= 100; tag++) {
            begin(inserts.subList(tag, inserts.size()), 20, 30);
        }
        begin(inserts.subList(101, inserts.size()), 20, 30);
        assertEquals(Map.of(), returned(inserts.get(0)));
        assertEquals(Map.of(OUT, new TargetRange(20, 30)), returned(inserts.get(1)));
    }
}
