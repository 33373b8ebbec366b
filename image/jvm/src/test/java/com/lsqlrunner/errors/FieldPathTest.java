package com.lsqlrunner.errors;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

final class FieldPathTest {
    private static MalformedRecordException error() {
        return new MalformedRecordException("a string is not UTF-8");
    }

    @Test
    void anErrorOutsideOfFieldsHasNoField() {
        assertEquals("a string is not UTF-8", error().reason());
        assertEquals("a string is not UTF-8", error().inField("").reason());
    }

    @Test
    void eachLevelAddsItsStepBeforeThePath() {
        assertEquals(
                "field address.lines[2].zip: a string is not UTF-8",
                error().inField("zip")
                        .inItem(2)
                        .inField("lines")
                        .inField("address")
                        .reason());
    }

    @Test
    void theKeyOfAMapIsShownOnlyWithValues() {
        MalformedRecordException inMap = error().inField("zip");

        assertEquals(
                "field homes.alice.zip: a string is not UTF-8",
                inMap.inEntry("alice").inField("homes").reason());
        assertEquals("field homes{}.zip: a string is not UTF-8", HiddenValues.hiding(() -> inMap.inEntry("alice")
                .inField("homes")
                .reason()));
    }
}
