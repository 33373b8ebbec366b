package com.lsqlrunner.errors;

import static com.lsqlrunner.errors.HiddenValues.hiding;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ShownValueTest {
    @Test
    void valuesAreHiddenByDefault() {
        assertFalse(hiding(ShownValue::isIncluded));
        assertTrue(ShownValue.isIncluded()); // the build sets the property for the other tests
    }

    @Test
    void aTextIsDescribedByItsBytes() {
        assertEquals("a text of 3 bytes", hiding(() -> ShownValue.ofText("é1")));
        assertEquals("\"é1\"", ShownValue.ofText("é1"));
    }

    @Test
    void aShownTextIsOneShortLine() {
        assertEquals("\"a b\"", ShownValue.ofText("a\n\tb"));
        assertEquals("\"" + "x".repeat(40) + "...\"", ShownValue.ofText("x".repeat(41)));
    }

    @Test
    void aNumberIsNotDescribed() {
        assertEquals("a number", hiding(() -> ShownValue.ofNumber(12)));
        assertEquals("12", ShownValue.ofNumber(12));
    }
}
