package com.lsqlrunner.bytes;

import static com.lsqlrunner.bytes.HostileRecord.TOO_DEEP;
import static com.lsqlrunner.bytes.HostileRecord.TOO_MANY;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.MalformedRecordException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

final class RecordBudgetTest {
    private static final int MIB = 1 << 20;

    private final RecordBudget budget = new RecordBudget();

    private static String refusal(Executable take) {
        return assertThrows(MalformedRecordException.class, take).reason();
    }

    @Test
    void aSmallRecordMayTake32Mib() {
        budget.start(10);
        budget.takeItems(MIB / 2);
        budget.takeEntries(MIB / 8);
        budget.takeFields(MIB);

        assertEquals(TOO_MANY.formatted(32), refusal(() -> budget.takeFields(1)));
    }

    @Test
    void aLargeRecordMayTake64TimesItsSize() {
        budget.start(10 * MIB);
        budget.takeItems(10L * 2 * MIB);

        assertEquals(TOO_MANY.formatted(640), refusal(() -> budget.takeItems(1)));
    }

    @Test
    void aClaimThatOverflowsALongIsRefused() {
        budget.start(10);

        assertEquals(TOO_MANY.formatted(32), refusal(() -> budget.takeItems(Long.MAX_VALUE)));
        assertEquals(TOO_MANY.formatted(32), refusal(() -> budget.takeEntries(Long.MAX_VALUE)));
        assertEquals(TOO_MANY.formatted(32), refusal(() -> budget.takeFields(Integer.MAX_VALUE)));
    }

    @Test
    void eachRecordHasABudgetOfItsOwn() {
        budget.start(10);
        budget.takeItems(MIB);
        budget.start(10);

        budget.takeItems(MIB);
    }

    @Test
    void valuesMayBeNested500LevelsDeep() {
        RecordBudget.checkDepth(500);

        assertEquals(TOO_DEEP, refusal(() -> RecordBudget.checkDepth(501)));
    }

    @Test
    void aRecordCanExceedItsBudgetOnlyWithManyWideStructs() {
        assertFalse(RecordBudget.canExceed(MIB, MIB / 3, 15));
        assertTrue(RecordBudget.canExceed(MIB, MIB / 3, 100));
        assertFalse(RecordBudget.canExceed(30_000, 10_000, 100));
    }
}
