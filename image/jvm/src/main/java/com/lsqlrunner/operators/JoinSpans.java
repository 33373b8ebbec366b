package com.lsqlrunner.operators;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.ValueState;

/**
 * The rows of an id in the state of a {@link StreamJoin}: those of a side in spans of time, those of a span in chunks
 * of some {@link #CHUNK} bytes. So a row that is added rewrites few others, is compared with the rows of few spans, and
 * is removed with its span. The index of the id has the spans of both sides, with the numbers of their chunks.
 */
final class JoinSpans {
    static final long NO_TIMER = Long.MAX_VALUE;

    /** A chunk takes rows until it has this size. */
    private static final int CHUNK = 1_024;

    private static final int ENTRY = Long.BYTES + Integer.BYTES;

    /** The time of the timer of the id, in milliseconds. */
    long timerMs = NO_TIMER;

    private final long spanMs;
    private final MapState<byte[], byte[]> state;
    private final long timerOfState;

    /** By side, left first: the number of chunks of each span, by the start of the span. */
    private final List<TreeMap<Long, Integer>> spans = List.of(new TreeMap<>(), new TreeMap<>());

    private final Map<ByteBuffer, Chunk> cached = new HashMap<>();
    private boolean isIndexChanged;

    /** @param index in the state; null for an id without rows */
    JoinSpans(long spanMs, MapState<byte[], byte[]> state, byte[] index) {
        this.spanMs = spanMs;
        this.state = state;
        if (index != null) {
            ByteBuffer in = ByteBuffer.wrap(index);
            timerMs = in.getLong();
            for (TreeMap<Long, Integer> side : spans) {
                for (int left = in.getInt(); left > 0; left--) {
                    side.put(in.getLong(), in.getInt());
                }
            }
        }
        timerOfState = timerMs;
    }

    boolean isEmpty() {
        return spans.get(0).isEmpty() && spans.get(1).isEmpty();
    }

    /** The end of the first span, exclusive. */
    long firstEndMs() {
        return spans.stream()
                        .filter(side -> !side.isEmpty())
                        .mapToLong(TreeMap::firstKey)
                        .min()
                        .orElseThrow()
                + spanMs;
    }

    /** The rows of a side with times in a range, both ends included. */
    List<byte[]> between(boolean ofLeft, long fromMs, long toMs) {
        List<byte[]> found = new ArrayList<>();
        side(ofLeft).subMap(startOf(fromMs), true, toMs, true).forEach((start, count) -> {
            for (int number = 0; number < count; number++) {
                chunk(ofLeft, start, number).addTo(found, fromMs, toMs);
            }
        });
        return found;
    }

    void add(boolean toLeft, long ts, byte[] row) {
        long start = startOf(ts);
        int count = side(toLeft).getOrDefault(start, 0);
        Chunk last = count == 0 ? null : chunk(toLeft, start, count - 1);
        if (last == null || last.size >= CHUNK) {
            last = new Chunk();
            cached.put(ByteBuffer.wrap(key(toLeft, start, count)), last);
            side(toLeft).put(start, count + 1);
            isIndexChanged = true;
        }
        last.add(ts, row);
        last.isChanged = true;
    }

    /** Removes the spans that have ended at a time. */
    void removeEndedBefore(long endMs) {
        for (boolean isLeft : new boolean[] {true, false}) {
            Map<Long, Integer> ended = side(isLeft).headMap(endMs - spanMs, true);
            ended.forEach((start, count) -> {
                for (int number = 0; number < count; number++) {
                    state.removeKey(key(isLeft, start, number));
                }
            });
            ended.clear();
        }
        isIndexChanged = true;
    }

    /** Writes what has changed. */
    void flush(ValueState<byte[]> index) {
        cached.forEach((key, chunk) -> {
            if (chunk.isChanged) {
                state.updateValue(key.array(), chunk.toBytes());
            }
        });
        if (isIndexChanged || timerMs != timerOfState) {
            index.update(index());
        }
    }

    private byte[] index() {
        int entries = spans.get(0).size() + spans.get(1).size();
        ByteBuffer out = ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES + entries * ENTRY);
        out.putLong(timerMs);
        for (TreeMap<Long, Integer> side : spans) {
            out.putInt(side.size());
            side.forEach((start, count) -> out.putLong(start).putInt(count));
        }
        return out.array();
    }

    private TreeMap<Long, Integer> side(boolean isLeft) {
        return spans.get(isLeft ? 0 : 1);
    }

    private long startOf(long ts) {
        return Math.floorDiv(ts, spanMs) * spanMs;
    }

    private Chunk chunk(boolean ofLeft, long start, int number) {
        byte[] key = key(ofLeft, start, number);
        return cached.computeIfAbsent(ByteBuffer.wrap(key), missing -> Chunk.of(state.getValue(key)));
    }

    private static byte[] key(boolean ofLeft, long start, int number) {
        return ByteBuffer.allocate(1 + Long.BYTES + Integer.BYTES)
                .put((byte) (ofLeft ? 0 : 1))
                .putLong(start)
                .putInt(number)
                .array();
    }

    /** Rows with their times. */
    private static final class Chunk {
        private static final int HEADER = Long.BYTES + Integer.BYTES;

        private final List<Long> times = new ArrayList<>();
        private final List<byte[]> rows = new ArrayList<>();
        private int size;
        private boolean isChanged;

        static Chunk of(byte[] bytes) {
            Chunk chunk = new Chunk();
            ByteBuffer in = ByteBuffer.wrap(bytes);
            while (in.hasRemaining()) {
                long ts = in.getLong();
                byte[] row = new byte[in.getInt()];
                in.get(row);
                chunk.add(ts, row);
            }
            return chunk;
        }

        void add(long ts, byte[] row) {
            times.add(ts);
            rows.add(row);
            size += HEADER + row.length;
        }

        void addTo(List<byte[]> found, long fromMs, long toMs) {
            for (int index = 0; index < rows.size(); index++) {
                long ts = times.get(index);
                if (fromMs <= ts && ts <= toMs) {
                    found.add(rows.get(index));
                }
            }
        }

        byte[] toBytes() {
            ByteBuffer out = ByteBuffer.allocate(size);
            for (int index = 0; index < rows.size(); index++) {
                out.putLong(times.get(index)).putInt(rows.get(index).length).put(rows.get(index));
            }
            return out.array();
        }
    }
}
