package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class ReplayTest {
    @Test
    void withStateABatchWritesItsOwnRecordsOnly() {
        Replay replay = new Replay(7, true, null, null);
        assertTrue(replay.mayWrite("7", 0, 0));
        assertFalse(replay.mayWrite("6", 0, 0));
        assertFalse(replay.mayWrite("8", 0, 0));
    }

    private static Replay stateless(InsertPositions... inserts) {
        return new Replay(7, true, List.of(inserts), null);
    }

    @Test
    void withoutStateABatchWritesTheRecordsFromItsPositionsOn() {
        Replay replay = stateless(new InsertPositions(0, 0, "t", Map.of(3, 10L), List.of("out")));
        assertFalse(replay.mayWrite("7", 3, 9));
        assertTrue(replay.mayWrite("7", 3, 10));
        assertTrue(replay.mayWrite("2", 3, 11));
    }

    @Test
    void aPartitionWithoutAPositionBeginsAtItsFirstRecord() {
        assertTrue(stateless(new InsertPositions(0, 0, "t", Map.of(), List.of("out")))
                .mayWrite("0", 3, 0));
    }

    @Test
    void theUpperHalfOfTheFirstLongIsTheTag() {
        for (int tag : new int[] {1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF}) {
            Replay replay = stateless(new InsertPositions(tag, 0, "t", Map.of(3, 10L), List.of("out")));
            assertFalse(replay.mayWrite("7", (long) tag << 32 | 3, 9));
            assertTrue(replay.mayWrite("7", (long) tag << 32 | 3, 10));
            assertFalse(replay.mayWrite("7", (long) (tag + 1) << 32 | 3, 10));
        }
    }

    /** The position of one topic says nothing about another one with a partition of the same number. */
    @Test
    void eachInsertHasThePositionsOfItsOwnTopic() {
        Replay replay = stateless(
                new InsertPositions(1, 0, "long", Map.of(0, 1_000_000L), List.of("out")),
                new InsertPositions(2, 0, "short", Map.of(0, 10L), List.of("out")));
        assertFalse(replay.mayWrite("7", 1L << 32, 999_999));
        assertTrue(replay.mayWrite("7", 1L << 32, 1_000_000));
        assertTrue(replay.mayWrite("7", 2L << 32, 10));
        assertEquals(List.of(new TopicPartition("short", 0)), replay.sources(2L << 32, 1_000_000));
    }

    @Test
    void recordsOfAnInsertThatDoesNotExistAnyMoreAreNotWrittenAgain() {
        assertFalse(stateless(new InsertPositions(1, 0, "t", Map.of(), List.of("out")))
                .mayWrite("7", 5L << 32, 3));
    }

    @Test
    void theIndexOfAnElementIsCombinedWithTheTag() {
        Replay replay = stateless(
                new InsertPositions(0x1234_5678, 1, "a", Map.of(0, 5L), List.of("out")),
                new InsertPositions(0x7234_5678, 0, "b", Map.of(0, 9L), List.of("out")));
        long element = (long) (0x1234_5678 ^ 300) << 32;
        assertTrue(replay.mayWrite("7", element, 5));
        assertFalse(replay.mayWrite("7", element, 4));
        assertEquals(List.of(new TopicPartition("a", 0)), replay.sources(element, 5));
    }

    @Test
    void theElementsOfSeveralArraysHaveNoTag() {
        Replay replay = stateless(new InsertPositions(1, 2, "a", Map.of(0, 5L), List.of("out")));
        assertTrue(replay.mayWrite("7", 0x0BCD_EF01L << 32, 5));
        assertFalse(replay.mayWrite("7", 0x0BCD_EF01L << 32, 4));
    }

    @Test
    void theHeaderOfAnIdentityHasItsTwoLongs() {
        byte[] bytes = RecordHeaderNames.identity(1, -2);
        assertEquals(16, bytes.length);
        assertEquals(1, bytes[7]);
        assertEquals(-2, bytes[15]);
        assertEquals(-1, bytes[8]);
    }

    @Test
    void aBatchThatWasOnlyOpenHasRecordsOfItsOpening() {
        Replay replay = new Replay(7, false, null, null).opened("a1");
        assertTrue(replay.isRepeated());
        assertTrue(replay.mayWrite("7.a1.5", 0, 0));
        assertFalse(replay.mayWrite("6.a1.5", 0, 0));
        assertFalse(replay.mayWrite("7", 0, 0), "of another time line, after the checkpoint was restored");
        assertFalse(new Replay(7, false, null, null).opened(null).isRepeated());
    }

    @Test
    void aRecordWithOneResultHasNoNumber() {
        Replay replay = new Replay(7, false, null, null).opened("a1");
        assertTrue(replay.mayWrite("7.a1", 0, 0));
        assertFalse(replay.mayWrite("7.b2", 0, 0));
        assertEquals(0, replay.numberOf("7.a1"));
    }

    @Test
    void theOpeningOfAnotherTimeLineIsNotFound() {
        assertFalse(new Replay(7, false, null, null).opened("a1").mayWrite("7.b2.5", 0, 0));
        assertFalse(new Replay(7, true, null, null).mayWrite("7.b2.5", 0, 0));
    }

    @Test
    void aPlannedBatchHasRecordsOfItsOpeningAndItsOwn() {
        Replay replay = new Replay(7, true, null, null).opened("a1");
        assertTrue(replay.mayWrite("7.a1.5", 0, 0));
        assertTrue(replay.mayWrite("7", 0, 0));
        assertEquals(5, replay.numberOf("7.a1.5"));
        assertEquals(0, replay.numberOf("7"));
    }
}
