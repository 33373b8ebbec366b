package com.lsqlrunner.operators;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.spark.sql.streaming.MapState;

/**
 * The rows of an id in the state of a {@link StreamJoin}: those of a side in spans of time, those of a span in chunks
 * of some {@link #CHUNK} bytes. So a row that is added rewrites few others, and is compared with the rows of few spans.
 * Several spans are a page, which says which of them have rows, and which is removed as a whole.
 */
final class JoinSpans {
    static final int MOST_SPANS_OF_PAGE = Long.SIZE;

    /** A chunk takes rows until it has this size. */
    private static final int CHUNK = 1_024;

    private static final byte PAGE = 2;

    private final long spanMs;
    private final long pageMs;
    private final MapState<byte[], byte[]> state;
    private final Map<Long, Page> pages = new HashMap<>();
    private final Map<ByteBuffer, Chunk> chunks = new HashMap<>();
    private final List<Long> newPages = new ArrayList<>();

    /** @param pageMs a multiple of {@code spanMs}, at most {@link #MOST_SPANS_OF_PAGE} times */
    JoinSpans(long spanMs, long pageMs, MapState<byte[], byte[]> state) {
        this.spanMs = spanMs;
        this.pageMs = pageMs;
        this.state = state;
    }

    /**
     * The rows of a side with times in a range, both ends included.
     *
     * @param marks whether they have a match from now on
     */
    List<byte[]> match(boolean ofLeft, long fromMs, long toMs, boolean marks) {
        List<byte[]> found = new ArrayList<>();
        forChunks(ofLeft, fromMs, toMs, chunk -> chunk.match(found, fromMs, toMs, marks));
        return found;
    }

    /** The rows of a side with times in a range that have no match. */
    List<byte[]> unmatched(boolean ofLeft, long fromMs, long toMs) {
        List<byte[]> found = new ArrayList<>();
        forChunks(ofLeft, fromMs, toMs, chunk -> chunk.addUnmatched(found, fromMs, toMs));
        return found;
    }

    private void forChunks(boolean ofLeft, long fromMs, long toMs, Consumer<Chunk> consumer) {
        for (long span = startOf(fromMs, spanMs); span <= toMs; span += spanMs) {
            if (page(span).has(ofLeft, indexOf(span))) {
                int count = chunks(ofLeft, span);
                for (int number = 0; number < count; number++) {
                    consumer.accept(chunk(ofLeft, span, number));
                }
            }
        }
    }

    /** The starts of the pages that have their first rows since this object was made. */
    List<Long> newPages() {
        return newPages;
    }

    /** The times of the rows of a side that were added since this object was made, and have no match. */
    Set<Long> newUnmatched(boolean ofLeft) {
        Set<Long> times = new HashSet<>();
        chunks.forEach((key, chunk) -> {
            if (key.get(0) == side(ofLeft)) {
                chunk.addNewUnmatched(times);
            }
        });
        return times;
    }

    void add(boolean toLeft, long ts, byte[] row, boolean isMatched) {
        long span = startOf(ts, spanMs);
        Page page = page(span);
        int count = page.has(toLeft, indexOf(span)) ? chunks(toLeft, span) : 0;
        Chunk last = count == 0 ? null : chunk(toLeft, span, count - 1);
        if (last == null || last.size >= CHUNK) {
            if (page.isEmpty()) {
                newPages.add(startOf(span, pageMs));
            }
            page.add(toLeft, indexOf(span), count > 0);
            last = new Chunk();
            chunks.put(ByteBuffer.wrap(key(side(toLeft), span, count)), last);
            if (count > 0) {
                Chunk first = chunk(toLeft, span, 0);
                first.chunksOfSpan = count + 1;
                first.isChanged = true;
            }
        }
        last.add(ts, row, isMatched);
        last.isChanged = true;
    }

    /** The number of chunks of a span with rows. */
    private int chunks(boolean ofLeft, long span) {
        return page(span).hasSeveralChunks(ofLeft, indexOf(span)) ? chunk(ofLeft, span, 0).chunksOfSpan : 1;
    }

    /** Removes a page and its rows. */
    void remove(long page) {
        for (long span = page; span < page + pageMs; span += spanMs) {
            for (boolean isLeft : new boolean[] {true, false}) {
                if (page(span).has(isLeft, indexOf(span))) {
                    int count = chunks(isLeft, span);
                    for (int number = 0; number < count; number++) {
                        state.removeKey(key(side(isLeft), span, number));
                    }
                }
            }
        }
        state.removeKey(key(PAGE, page, 0));
    }

    /** Writes what has changed. */
    void flush() {
        chunks.forEach((key, chunk) -> {
            if (chunk.isChanged) {
                state.updateValue(key.array(), chunk.toBytes());
            }
        });
        pages.forEach((start, page) -> {
            if (page.isChanged) {
                state.updateValue(key(PAGE, start, 0), page.toBytes());
            }
        });
    }

    private static long startOf(long ts, long lengthMs) {
        return Math.floorDiv(ts, lengthMs) * lengthMs;
    }

    private int indexOf(long span) {
        return (int) ((span - startOf(span, pageMs)) / spanMs);
    }

    private Page page(long span) {
        return pages.computeIfAbsent(startOf(span, pageMs), start -> new Page(state.getValue(key(PAGE, start, 0))));
    }

    private Chunk chunk(boolean ofLeft, long span, int number) {
        byte[] key = key(side(ofLeft), span, number);
        return chunks.computeIfAbsent(ByteBuffer.wrap(key), missing -> Chunk.of(state.getValue(key)));
    }

    private static byte side(boolean isLeft) {
        return (byte) (isLeft ? 0 : 1);
    }

    private static byte[] key(byte kind, long start, int number) {
        return ByteBuffer.allocate(1 + Long.BYTES + Integer.BYTES)
                .put(kind)
                .putLong(start)
                .putInt(number)
                .array();
    }

    /** Bits for each span of both sides: whether it has rows, and whether they are in several chunks. */
    private static final class Page {
        private static final int SIDES = 2;

        private final long[] spans = new long[2 * SIDES];
        private boolean isChanged;

        Page(byte[] bytes) {
            if (bytes != null) {
                ByteBuffer.wrap(bytes).asLongBuffer().get(spans);
            }
        }

        boolean isEmpty() {
            return spans[0] == 0 && spans[1] == 0;
        }

        boolean has(boolean ofLeft, int index) {
            return (spans[side(ofLeft)] >>> index & 1) == 1;
        }

        boolean hasSeveralChunks(boolean ofLeft, int index) {
            return (spans[SIDES + side(ofLeft)] >>> index & 1) == 1;
        }

        void add(boolean toLeft, int index, boolean isNextChunk) {
            int bits = isNextChunk ? SIDES + side(toLeft) : side(toLeft);
            long changed = spans[bits] | 1L << index;
            isChanged |= changed != spans[bits];
            spans[bits] = changed;
        }

        byte[] toBytes() {
            ByteBuffer out = ByteBuffer.allocate(spans.length * Long.BYTES);
            out.asLongBuffer().put(spans);
            return out.array();
        }
    }

    /** Rows with their times, and whether they have a match: the sign of their length in the state. */
    private static final class Chunk {
        private static final int HEADER = Long.BYTES + Integer.BYTES;

        private final List<Long> times = new ArrayList<>();
        private final List<byte[]> rows = new ArrayList<>();
        private final BitSet matched = new BitSet();
        private int rowsOfState;
        private int size = Integer.BYTES;

        /** Of the first chunk of a span with several. */
        private int chunksOfSpan;

        private boolean isChanged;

        static Chunk of(byte[] bytes) {
            Chunk chunk = new Chunk();
            ByteBuffer in = ByteBuffer.wrap(bytes);
            chunk.chunksOfSpan = in.getInt();
            while (in.hasRemaining()) {
                long ts = in.getLong();
                int length = in.getInt();
                byte[] row = new byte[Math.abs(length)];
                in.get(row);
                chunk.add(ts, row, length < 0);
            }
            chunk.rowsOfState = chunk.rows.size();
            return chunk;
        }

        void add(long ts, byte[] row, boolean isMatched) {
            matched.set(rows.size(), isMatched);
            times.add(ts);
            rows.add(row);
            size += HEADER + row.length;
        }

        void match(List<byte[]> found, long fromMs, long toMs, boolean marks) {
            for (int index = 0; index < rows.size(); index++) {
                long ts = times.get(index);
                if (fromMs <= ts && ts <= toMs) {
                    found.add(rows.get(index));
                    if (marks && !matched.get(index)) {
                        matched.set(index);
                        isChanged = true;
                    }
                }
            }
        }

        void addUnmatched(List<byte[]> found, long fromMs, long toMs) {
            for (int index = 0; index < rows.size(); index++) {
                long ts = times.get(index);
                if (fromMs <= ts && ts <= toMs && !matched.get(index)) {
                    found.add(rows.get(index));
                }
            }
        }

        void addNewUnmatched(Set<Long> found) {
            for (int index = rowsOfState; index < rows.size(); index++) {
                if (!matched.get(index)) {
                    found.add(times.get(index));
                }
            }
        }

        byte[] toBytes() {
            ByteBuffer out = ByteBuffer.allocate(size).putInt(chunksOfSpan);
            for (int index = 0; index < rows.size(); index++) {
                int length = rows.get(index).length;
                out.putLong(times.get(index))
                        .putInt(matched.get(index) ? -length : length)
                        .put(rows.get(index));
            }
            return out.array();
        }
    }
}
