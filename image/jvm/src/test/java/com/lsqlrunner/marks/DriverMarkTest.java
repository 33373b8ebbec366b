package com.lsqlrunner.marks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lsqlrunner.errors.LsqlException;
import com.lsqlrunner.marks.MarkedPlaces.Mark;
import com.lsqlrunner.marks.MarkedPlaces.Place;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DriverMarkTest {
    private static final TopicPartition P1 = new TopicPartition("t", 1);
    private static final Place PLACE = new Place("first start", "t", 1, 7);

    private final MarkedPlaces places = new MarkedPlaces();

    /** What a task of an executor does, which ends while it reads the record. */
    private void ends(String executor, String stream, long offset) {
        DriverMark.askWith(place -> places.set(new Mark(executor, place)));
        new DriverMark(stream).write(P1, offset);
    }

    @AfterEach
    void tellNobody() {
        DriverMark.askWith(place -> true);
    }

    @Test
    void aRecordThatHasEndedTwoExecutorsIsRefusedByName() {
        ends("1", "first start", 7);
        ends("2", "first start", 7);

        LsqlException refused = assertThrows(LsqlException.class, () -> ends("3", "first start", 7));

        assertEquals("LSQL_RECORD_EXCEEDS_HEAP", refused.getCondition());
        assertEquals("t", refused.getMessageParameters().get("topic"));
        assertEquals("1", refused.getMessageParameters().get("partition"));
        assertEquals("7", refused.getMessageParameters().get("offset"));
        long heapMib = Long.parseLong(refused.getMessageParameters().get("heap_mib"));
        assertTrue(heapMib >= Runtime.getRuntime().maxMemory() >> 20, () -> heapMib + " MiB");
    }

    @Test
    void anotherRecordAndALaterStartAreRead() {
        ends("1", "first start", 7);
        ends("2", "first start", 7);

        assertTrue(places.set(new Mark("3", new Place("first start", "t", 1, 8))));
        assertTrue(places.set(new Mark("4", new Place("first start", "t", 0, 7))));
        assertTrue(places.set(new Mark("5", new Place("second start", "t", 1, 7))));
        assertFalse(places.set(new Mark("6", PLACE)));
    }

    @Test
    void aRecordThatWasProcessedDoesNotCount() {
        for (String executor : new String[] {"1", "2", "3"}) {
            assertTrue(places.set(new Mark(executor, PLACE)));
            places.set(new Mark(executor, null));
        }
    }

    @Test
    void theMarkOfAnExecutorReplacesItsLastOne() {
        assertTrue(places.set(new Mark("1", PLACE)));
        assertTrue(places.set(new Mark("2", PLACE)));
        assertTrue(places.set(new Mark("2", new Place("first start", "t", 1, 8))));

        assertTrue(places.set(new Mark("3", PLACE)));
    }
}
