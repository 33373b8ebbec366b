package com.lsqlrunner.workers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.lsqlrunner.workers.Admission.Refused;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdmissionTest {
    private final Admission admission = new Admission(null, "1.2.0");

    @Test
    void aWorkerOfTheSameVersionIsAccepted() {
        assertEquals(Admission.ACCEPTED, admission.answer(Admission.question("10.0.0.1:4000", "1.2.0")));
        assertEquals(List.of(), admission.takeRefused());
    }

    @Test
    void aWorkerOfAnotherVersionLearnsTheVersionOfTheProcessor() {
        assertEquals("1.2.0", admission.answer(Admission.question("10.0.0.1:4000", "1.3.0")));
    }

    @Test
    void aRefusedWorkerIsReportedOnceEachTimeThatItIsAskedFor() {
        admission.answer(Admission.question("10.0.0.1:4000", "1.3.0"));
        admission.answer(Admission.question("10.0.0.1:4000", "1.3.0"));

        assertEquals(List.of(new Refused("10.0.0.1:4000", "1.3.0")), admission.takeRefused());
        assertEquals(List.of(), admission.takeRefused());
    }

    @Test
    void textsOfAWorkerCannotBreakTheReport() {
        admission.answer("a\"b\\\n " + "x".repeat(200) + "\"");

        Refused refused = admission.takeRefused().get(0);
        assertEquals("a?b??", refused.address());
        assertEquals(100, refused.version().length());
    }

    @Test
    void manyRefusedWorkersUseLittleMemory() {
        for (int port = 0; port < 1000; port++) {
            admission.answer(Admission.question("10.0.0.1:" + port, "1.3.0"));
        }

        assertEquals(100, admission.takeRefused().size());
    }
}
