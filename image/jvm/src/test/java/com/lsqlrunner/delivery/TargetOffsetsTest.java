package com.lsqlrunner.delivery;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lsqlrunner.fs.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TargetOffsetsTest {
    private static final TopicPartition A0 = new TopicPartition("a", 0);
    private static final TopicPartition A1 = new TopicPartition("a", 1);
    private static final TopicPartition B0 = new TopicPartition("b", 0);

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void nameFile() {
        file = folder.resolve("query").resolve("target-offsets");
    }

    private TargetOffsets offsets() {
        return TargetOffsets.in(AtomicFile.at(file.toString()));
    }

    private static TargetEnds ends(Map<TopicPartition, Long> offsets) {
        return new TargetEnds(offsets, Map.of());
    }

    private String content() throws IOException {
        return Files.readString(file);
    }

    private void write(Path path, String content) throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(path, content.getBytes(UTF_8));
    }

    @Test
    void aMissingFileHasNoOffsets() {
        assertNull(offsets().of(0));
        assertNull(offsets().of(Long.MAX_VALUE));
    }

    @Test
    void offsetsHoldForTheirBatchAndLaterOnes() {
        offsets().save(3, ends(Map.of(A0, 10L)));
        assertNull(offsets().of(2));
        assertEquals(Map.of(A0, 10L), offsets().of(3).offsets());
        assertEquals(Map.of(A0, 10L), offsets().of(300).offsets());
    }

    @Test
    void theNewestOffsetsThatHoldAreUsed() {
        offsets().save(3, ends(Map.of(A0, 10L)));
        offsets().save(5, ends(Map.of(A0, 20L, B0, 1L)));
        assertEquals(Map.of(A0, 10L), offsets().of(4).offsets());
        assertEquals(Map.of(A0, 20L, B0, 1L), offsets().of(5).offsets());
    }

    @Test
    void twoEntriesAreKept() {
        TargetOffsets offsets = offsets();
        for (long batch = 1; batch <= 4; batch++) {
            offsets.save(batch, ends(Map.of(A0, 10 * batch)));
        }
        assertNull(offsets().of(2));
        assertEquals(Map.of(A0, 30L), offsets().of(3).offsets());
        assertEquals(Map.of(A0, 40L), offsets().of(4).offsets());
    }

    @Test
    void newOffsetsOfABatchReplaceThoseOfItAndOfLaterOnes() {
        TargetOffsets offsets = offsets();
        offsets.save(3, ends(Map.of(A0, 10L)));
        offsets.save(5, ends(Map.of(A0, 20L)));
        offsets.save(4, ends(Map.of(A0, 15L)));
        assertEquals(Map.of(A0, 15L), offsets.of(5).offsets());
        offsets.save(4, ends(Map.of(A0, 16L)));
        assertEquals(Map.of(A0, 16L), offsets.of(4).offsets());
        assertEquals(Map.of(A0, 10L), offsets.of(3).offsets());
    }

    @Test
    void offsetsOfBatchesAfterTheOneThatRunsAgainDoNotHoldAnyMore() {
        offsets().save(3, ends(Map.of(A0, 10L)));
        offsets().save(5, ends(Map.of(A0, 20L)));
        assertEquals(Map.of(A0, 10L), offsets().continueAt(4, Map.of()).offsets());
        assertEquals(Map.of(A0, 10L), offsets().of(5).offsets());
    }

    @Test
    void offsetsOfTheBatchThatRunsAgainHold() {
        offsets().save(3, ends(Map.of(A0, 10L)));
        offsets().save(5, ends(Map.of(A0, 20L)));
        assertEquals(Map.of(A0, 20L), offsets().continueAt(5, Map.of()).offsets());
        assertEquals(Map.of(A0, 10L), offsets().of(4).offsets());
    }

    @Test
    void theFileNamesTopicsPartitionsAndOffsets() throws IOException {
        offsets().save(7, ends(Map.of(A1, 2L, B0, 5_000_000_000L, A0, 1L)));
        offsets().save(8, ends(Map.of()));
        assertEquals(
                "[{\"batch\":7,\"offsets\":{\"a\":{\"0\":1,\"1\":2},\"b\":{\"0\":5000000000}}},"
                        + "{\"batch\":8,\"offsets\":{}}]",
                content());
    }

    @Test
    void anAbortBelongsToTheOffsetsBeforeIt() throws IOException {
        offsets().save(3, ends(Map.of(A0, 10L)));
        offsets().saveAborted(5);
        assertEquals("[{\"batch\":3,\"offsets\":{\"a\":{\"0\":10}},\"aborted\":true}]", content());
        offsets().extend(4, ends(Map.of(A0, 10L, B0, 2L)));
        assertEquals(true, offsets().isAborted(5));
        offsets().save(5, ends(Map.of(A0, 20L)));
        assertEquals(false, offsets().isAborted(5));
        assertEquals(true, offsets().isAborted(4));
    }

    @Test
    void withoutOffsetsThereIsNoAbort() {
        offsets().saveAborted(5);
        assertEquals(false, offsets().isAborted(5));
    }

    @Test
    void inATopicThatWasCreatedAgainAllRecordsAreAfterTheOffsets() throws IOException {
        offsets().save(3, new TargetEnds(Map.of(A0, 10L, A1, 5L, B0, 7L), Map.of("a", "old", "b", "same")));
        Map<String, String> present = Map.of("a", "new", "b", "same");
        assertEquals(
                new TargetEnds(Map.of(A0, 0L, A1, 0L, B0, 7L), present),
                offsets().continueAt(3, present));
        assertEquals(
                new TargetEnds(Map.of(A0, 0L, A1, 0L, B0, 7L), present),
                offsets().of(3));
    }

    @Test
    void withoutAnIdATopicIsTheSame() throws IOException {
        offsets().save(3, ends(Map.of(A0, 10L)));
        assertEquals(
                Map.of(A0, 10L), offsets().continueAt(3, Map.of("a", "new")).offsets());
        offsets().save(4, new TargetEnds(Map.of(A0, 10L), Map.of("a", "old")));
        assertEquals(Map.of(A0, 10L), offsets().continueAt(4, Map.of()).offsets());
    }

    @Test
    void aTornFileOfAWriteThatDidNotEndIsReplaced() throws IOException {
        offsets().save(3, ends(Map.of(A0, 10L)));
        Path torn = file.resolveSibling("target-offsets.new");
        write(torn, "[{\"batch\":4,\"offsets\":{\"a\":{\"0\":" + "1".repeat(500));
        assertEquals(Map.of(A0, 10L), offsets().of(4).offsets());

        offsets().save(4, ends(Map.of(A0, 20L)));
        assertEquals(Map.of(A0, 20L), offsets().of(4).offsets());
        assertEquals(false, Files.exists(torn));
    }

    @Test
    void aDamagedFileIsAnError() throws IOException {
        write(file, "[{");
        assertThrows(UncheckedIOException.class, this::offsets);
    }
}
