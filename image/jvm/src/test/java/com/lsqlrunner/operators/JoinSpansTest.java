package com.lsqlrunner.operators;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.streaming.MapState;
import org.junit.jupiter.api.Test;

/** The rows of an id are those of a plain list. The tests of streams have too few rows of an id for several chunks. */
class JoinSpansTest {
    private static final long SPAN_MS = 100;
    private static final long PAGE_MS = 300;

    private final Map<ByteBuffer, byte[]> state = new HashMap<>();
    private final List<Long> pages = new ArrayList<>();

    @Test
    void rowsAreFoundByTheirTime() {
        Random random = new Random(3);
        List<Long> expected = new ArrayList<>();
        for (int batch = 0; batch < 20; batch++) {
            JoinSpans spans = open();
            for (int row = 0; row < 40; row++) {
                long from = random.nextInt(1_000) - 10;
                assertEquals(
                        expected.stream()
                                .filter(each -> from <= each && each <= from + 99)
                                .sorted()
                                .toList(),
                        times(spans, true, from, from + 99));
                long ts = random.nextInt(1_000);
                add(spans, true, ts);
                expected.add(ts);
            }
            flush(spans);
        }
        assertEquals(Set.of(0L, 300L, 600L, 900L), Set.copyOf(pages));
        assertEquals(4, pages.size(), "each page is reported once");
        assertTrue(state.size() > 20, "a span has several chunks");
        assertEquals(List.of(), times(open(), false, 0, 1_000));
    }

    @Test
    void rowsWithoutAMatchAreKnownInLaterBatches() {
        Random random = new Random(4);
        Set<Long> alone = new TreeSet<>();
        Set<Long> reported = new HashSet<>();
        for (int batch = 0; batch < 20; batch++) {
            JoinSpans spans = open();
            Set<Long> added = new TreeSet<>();
            for (int row = 0; row < 10; row++) {
                long ts = 1_000L * batch + 10 * row;
                spans.add(true, ts, row(ts), row % 5 == 0);
                if (row % 5 != 0) {
                    alone.add(ts);
                    added.add(ts);
                }
            }
            for (int match = 0; match < 30; match++) {
                long ts = random.nextInt(1_000 * (batch + 1));
                spans.match(true, ts, ts + 9, match % 3 == 0);
                if (match % 3 == 0) {
                    alone.removeIf(each -> ts <= each && each <= ts + 9);
                }
            }
            added.retainAll(alone);
            assertEquals(added, spans.newUnmatched(true));
            reported.addAll(added);
            flush(spans);
        }

        JoinSpans spans = open();
        assertEquals(Set.of(), spans.newUnmatched(true));
        for (long ts = 0; ts < 20_000; ts += 10) {
            assertEquals(
                    alone.contains(ts) ? 1 : 0,
                    spans.unmatched(true, ts, ts + 9).size(),
                    "at " + ts);
        }
        assertTrue(reported.size() > alone.size(), "some have a match in a later batch");
    }

    @Test
    void aPageIsRemovedWithItsRows() {
        JoinSpans spans = open();
        for (int row = 0; row < 100; row++) {
            add(spans, row % 2 == 0, 7L * row);
        }
        flush(spans);

        open().remove(0);

        assertEquals(List.of(), times(open(), true, 0, 299));
        assertEquals(List.of(308L, 322L), times(open(), true, 300, 330));
        open().remove(300);
        open().remove(600);
        assertEquals(Map.of(), state);
    }

    private JoinSpans open() {
        return new JoinSpans(SPAN_MS, PAGE_MS, mapState());
    }

    private void flush(JoinSpans spans) {
        spans.flush();
        pages.addAll(spans.newPages());
    }

    private static void add(JoinSpans spans, boolean toLeft, long ts) {
        spans.add(toLeft, ts, row(ts), false);
    }

    private static byte[] row(long ts) {
        return ByteBuffer.allocate(50).putLong(ts).array();
    }

    private static List<Long> times(JoinSpans spans, boolean ofLeft, long fromMs, long toMs) {
        return spans.match(ofLeft, fromMs, toMs, false).stream()
                .map(row -> ByteBuffer.wrap(row).getLong())
                .sorted()
                .toList();
    }

    @SuppressWarnings("unchecked")
    private MapState<byte[], byte[]> mapState() {
        return (MapState<byte[], byte[]>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MapState.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getValue" -> state.get(ByteBuffer.wrap((byte[]) arguments[0]));
                    case "updateValue" -> state.put(ByteBuffer.wrap((byte[]) arguments[0]), (byte[]) arguments[1]);
                    case "removeKey" -> state.remove(ByteBuffer.wrap((byte[]) arguments[0]));
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }
}
