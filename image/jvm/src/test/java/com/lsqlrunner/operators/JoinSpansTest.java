package com.lsqlrunner.operators;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;
import org.junit.jupiter.api.Test;

/** The rows of an id are those of a plain list. The tests of streams have too few rows of an id for several chunks. */
class JoinSpansTest {
    private static final long SPAN_MS = 100;

    private final Map<ByteBuffer, byte[]> chunks = new HashMap<>();
    private byte[] index;

    @Test
    void rowsAreFoundByTheirTime() {
        Random random = new Random(3);
        List<Long> expected = new ArrayList<>();
        for (int batch = 0; batch < 20; batch++) {
            JoinSpans spans = open();
            for (int row = 0; row < 40; row++) {
                long from = random.nextInt(1_000);
                assertEquals(
                        expected.stream()
                                .filter(each -> from <= each && each <= from + 30)
                                .sorted()
                                .toList(),
                        times(spans, true, from, from + 30));
                long ts = random.nextInt(1_000);
                add(spans, true, ts);
                expected.add(ts);
            }
            spans.flush(indexes());
        }
        assertTrue(chunks.size() > 20, "a span has several chunks");
        assertEquals(List.of(), times(open(), false, 0, 1_000));
    }

    @Test
    void aSpanIsRemovedWithItsRowsWhenItHasEnded() {
        JoinSpans spans = open();
        for (long ts : new long[] {0, 99, 100, 250}) {
            add(spans, ts != 100, ts);
        }
        spans.flush(indexes());

        spans = open();
        assertEquals(100, spans.firstEndMs());
        spans.removeEndedBefore(99);
        assertEquals(100, spans.firstEndMs());
        spans.removeEndedBefore(100);
        assertEquals(200, spans.firstEndMs());
        spans.removeEndedBefore(250);
        spans.flush(indexes());

        assertEquals(List.of(250L), times(open(), true, 0, 1_000));
        assertEquals(1, chunks.size());
    }

    @Test
    void theTimerIsKept() {
        JoinSpans spans = open();
        add(spans, true, 5);
        spans.timerMs = 7;
        spans.flush(indexes());

        assertEquals(7, open().timerMs);
    }

    private JoinSpans open() {
        return new JoinSpans(SPAN_MS, state(), index);
    }

    private static void add(JoinSpans spans, boolean toLeft, long ts) {
        spans.add(toLeft, ts, ByteBuffer.allocate(50).putLong(ts).array());
    }

    private static List<Long> times(JoinSpans spans, boolean ofLeft, long fromMs, long toMs) {
        return spans.between(ofLeft, fromMs, toMs).stream()
                .map(row -> ByteBuffer.wrap(row).getLong())
                .sorted()
                .toList();
    }

    @SuppressWarnings("unchecked")
    private MapState<byte[], byte[]> state() {
        return (MapState<byte[], byte[]>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {MapState.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "getValue" -> chunks.get(ByteBuffer.wrap((byte[]) arguments[0]));
                    case "updateValue" -> chunks.put(ByteBuffer.wrap((byte[]) arguments[0]), (byte[]) arguments[1]);
                    case "removeKey" -> chunks.remove(ByteBuffer.wrap((byte[]) arguments[0]));
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @SuppressWarnings("unchecked")
    private ValueState<byte[]> indexes() {
        return (ValueState<byte[]>) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ValueState.class}, (proxy, method, arguments) -> {
                    assertEquals("update", method.getName());
                    index = (byte[]) arguments[0];
                    return null;
                });
    }
}
