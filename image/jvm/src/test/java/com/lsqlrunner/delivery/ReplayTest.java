package com.lsqlrunner.delivery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplayTest {
    @Test
    void withStateABatchWritesItsOwnRecordsOnly() {
        Replay replay = new Replay(7, true, null);
        assertTrue(replay.mayWrite(7, 0, 0));
        assertFalse(replay.mayWrite(6, 0, 0));
        assertFalse(replay.mayWrite(8, 0, 0));
    }

    @Test
    void withoutStateABatchWritesTheRecordsFromItsPositionsOn() {
        Replay replay = new Replay(7, true, Map.of(3, 10L));
        assertFalse(replay.mayWrite(7, 3, 9));
        assertTrue(replay.mayWrite(7, 3, 10));
        assertTrue(replay.mayWrite(2, 3, 11));
    }

    @Test
    void aPartitionWithoutAPositionBeginsAtItsFirstRecord() {
        assertTrue(new Replay(0, true, Map.of()).mayWrite(0, 3, 0));
    }

    @Test
    void theLowerHalfOfTheFirstLongIsThePartition() {
        Replay replay = new Replay(7, true, Map.of(3, 10L));
        for (long insert : new long[] {1, 0x7FFF_FFFF, 0x8000_0000L, 0xFFFF_FFFFL}) {
            assertFalse(replay.mayWrite(7, insert << 32 | 3, 9));
            assertTrue(replay.mayWrite(7, insert << 32 | 3, 10));
        }
    }

    @Test
    void theHeaderOfAnIdentityHasItsTwoLongs() {
        byte[] bytes = RecordHeaderNames.identity(1, -2);
        assertEquals(16, bytes.length);
        assertEquals(1, bytes[7]);
        assertEquals(-2, bytes[15]);
        assertEquals(-1, bytes[8]);
    }
}
