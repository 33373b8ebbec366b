package com.lsqlrunner.marks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.spark.sql.connector.read.streaming.Offset;
import org.junit.jupiter.api.Test;

class MarkedBatchTest {
    private static Offset at(long offset) {
        return new Offset() {
            @Override
            public String json() {
                return Long.toString(offset);
            }
        };
    }

    @Test
    void onlyTheFirstBatchHasMarks() {
        MarkedBatch marked = new MarkedBatch("/mark.json");
        assertTrue(marked.isPending());
        marked.planned(at(0), at(5));
        assertTrue(marked.isPending());

        assertEquals("/mark.json", marked.placeOf(at(0)));
        assertEquals("/mark.json", marked.placeOf(at(0)), "planned again");
        assertFalse(marked.isPending());
        assertNull(marked.placeOf(at(5)));
    }

    @Test
    void withoutRecordsAtTheStartNoBatchHasMarks() {
        MarkedBatch marked = new MarkedBatch("/mark.json");

        marked.planned(at(3), at(3));

        assertFalse(marked.isPending());
        assertNull(marked.placeOf(at(3)));
    }

    @Test
    void withoutAPlaceNoBatchHasMarks() {
        MarkedBatch marked = new MarkedBatch(null);

        assertFalse(marked.isPending());
        assertNull(marked.placeOf(at(0)));
    }
}
