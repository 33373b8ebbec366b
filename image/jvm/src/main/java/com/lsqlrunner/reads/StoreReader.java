package com.lsqlrunner.reads;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.realtime.CommittedVersion;
import com.lsqlrunner.realtime.CommittedVersion.Entry;
import com.lsqlrunner.realtime.CommittedVersion.Gone;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution;
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper;
import org.apache.spark.sql.streaming.StreamingQuery;

/**
 * Reads the committed groups of an aggregation of Spark, or of an operator of ours, also while its query runs. It waits
 * only while the query loads a store, and the query only for one page.
 */
@PythonEntry
public final class StoreReader {
    /** Entries that are read at once; meanwhile, the store cannot be loaded. */
    private static final int PAGE = 500;

    /** How long a request reads. */
    private static final Duration MOST_TIME = Duration.ofMillis(200);

    /** How often a read begins again because the query has begun another batch. */
    private static final int ATTEMPTS = 10;

    private static final int KEY = 0;
    private static final int WINDOW_START = 1;
    private static final int WINDOW_END = 2;
    private static final int VALUE = 0;

    private final Store store;
    private final Steps shownKey;
    private final Steps group;
    private final StoredResults places;
    private final StoredResults values;

    /** The partitions of the store; none before a batch has loaded all of them. */
    interface Store {
        List<CommittedVersion> partitions();

        /** Closes what belongs to no query. */
        default void close() {}
    }

    private StoreReader(
            Function<StoredResults, Store> open,
            Dataset<Row> shownKey,
            Dataset<Row> group,
            Dataset<Row> places,
            Dataset<Row> values) {
        this.shownKey = Steps.of(shownKey);
        this.group = group == null ? null : Steps.of(group);
        this.places = StoredResults.of(places);
        this.values = StoredResults.of(values);
        this.store = open.apply(this.values);
    }

    /**
     * A reader of a store of a running query.
     *
     * @param number of the stateful operator in the plan of the query, from the target down
     * @param shownKey {@code key} as it is shown (BINARY, JSON), a projection of {@code key} (BINARY, JSON)
     * @param group the columns of the group of {@code key}, and of the window that ends at {@code timestamp} (LONG,
     *     milliseconds), a projection of both; null if the group cannot be found
     * @param places the operator over any rows: {@code key} (BINARY, JSON), {@code window_start} and {@code window_end}
     *     (LONG, milliseconds; null without a window)
     * @param values the same: {@code value} (BINARY, JSON; null without one)
     */
    public static StoreReader of(
            StreamingQuery query,
            int number,
            Dataset<Row> shownKey,
            Dataset<Row> group,
            Dataset<Row> places,
            Dataset<Row> values) {
        MicroBatchExecution running = (MicroBatchExecution) ((StreamingQueryWrapper) query).streamingQuery();
        return new StoreReader(any -> new RunningStore(running, number), shownKey, group, places, values);
    }

    /**
     * A reader of a store in the files of a query that does not run.
     *
     * @param folder the folder with the state, of a checkpoint
     * @param operator its number in the query
     * @param version of the state
     * @param ids by partition: the id of that version
     * @throws IllegalArgumentException the state is not that of an aggregation of Spark
     */
    public static StoreReader ofFiles(
            SparkSession session,
            String folder,
            long operator,
            long version,
            List<String> ids,
            Dataset<Row> shownKey,
            Dataset<Row> group,
            Dataset<Row> places,
            Dataset<Row> values) {
        return new StoreReader(
                results -> new SavedStore(session, folder, operator, version, ids, results),
                shownKey,
                group,
                places,
                values);
    }

    /** Closes a store of {@link #ofFiles}. */
    public void close() {
        store.close();
    }

    /** The rows of an answer, and the version of the store that they are from. */
    private record Rows(long version, List<String> json, String next) {
        /** As JSON; null if no version can be read. */
        @Override
        public String toString() {
            String cursor = next == null ? "null" : '"' + next + '"';
            return "{\"version\":" + version + ",\"next\":" + cursor + ",\"rows\":[" + String.join(",", json) + "]}";
        }
    }

    /**
     * The rows of a key: one, or the sessions.
     *
     * @param key JSON in UTF-8
     * @param windowEndMs null without a window of a fixed size
     * @param filter of {@link #filter}
     * @param newest the last version that the query has committed
     * @return JSON with the version and the rows; null before a batch has loaded the store
     */
    public String find(byte[] key, Long windowEndMs, Filter filter, long newest) {
        List<CommittedVersion> partitions = store.partitions();
        byte[] stored = stored(key, windowEndMs);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                long version = version(partitions, newest);
                if (version < 0) {
                    return null;
                }
                List<String> rows = new ArrayList<>();
                for (CommittedVersion partition : partitions) {
                    byte[] value = partition.get(version, values.variable(), stored);
                    if (value != null) {
                        rows.addAll(rows(stored, value, filter));
                    }
                }
                return new Rows(version, rows, null).toString();
            } catch (Gone replaced) {
                // The query has begun another batch meanwhile.
            }
        }
        return null;
    }

    /**
     * Rows in the order of the state, which is none for people.
     *
     * @param from the cursor of the page before; null for the first one
     * @param limit the most rows; the sessions of a key are not divided, and may be more
     * @param only the number of the only partition; null for all
     * @param filter of {@link #filter}
     * @param newest the last version that the query has committed
     * @return as {@link #find}, with a cursor if there may be more
     * @throws CursorException the cursor is none
     */
    public String scan(String from, int limit, Integer only, Filter filter, long newest) throws CursorException {
        List<CommittedVersion> partitions = store.partitions();
        Cursor cursor = from == null ? new Cursor(only == null ? 0 : only, null) : Cursor.of(from);
        int end = only == null ? Integer.MAX_VALUE : only + 1;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            try {
                long version = version(partitions, newest);
                return version < 0
                        ? null
                        : scan(partitions, end, cursor, limit, filter, version).toString();
            } catch (Gone replaced) {
                // The query has begun another batch meanwhile.
            }
        }
        return null;
    }

    private Rows scan(List<CommittedVersion> partitions, int end, Cursor from, int limit, Filter filter, long version)
            throws Gone {
        List<String> rows = new ArrayList<>();
        Cursor at = from;
        long deadline = System.nanoTime() + MOST_TIME.toNanos();
        for (int pages = 0; at.partition < Math.min(end, partitions.size()); pages++) {
            if (pages > 0 && System.nanoTime() > deadline) {
                return new Rows(version, rows, at.text());
            }
            List<Entry> page;
            try {
                page = partitions.get(at.partition).next(version, values.variable(), at.after, PAGE);
            } catch (Gone replaced) {
                if (pages == 0) {
                    throw replaced;
                }
                return new Rows(version, rows, at.text());
            }
            for (Entry entry : page) {
                if (rows.size() >= limit) {
                    return new Rows(version, rows, at.text());
                }
                at = new Cursor(at.partition, entry.key());
                rows.addAll(rows(entry.key(), entry.value(), filter));
            }
            if (page.size() < PAGE) {
                at = new Cursor(at.partition + 1, null);
            }
        }
        return new Rows(version, rows, null);
    }

    /** A text that no answer has had as its cursor. */
    public static final class CursorException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    /** Where a page begins: after a key of a partition. */
    private record Cursor(int partition, byte[] after) {
        static Cursor of(String text) throws CursorException {
            try {
                String[] parts = text.split("\\.", 2);
                byte[] after = Base64.getUrlDecoder().decode(parts[1]);
                int partition = Integer.parseInt(parts[0]);
                if (partition < 0) {
                    throw new CursorException();
                }
                return new Cursor(partition, after.length == 0 ? null : after);
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException other) {
                throw new CursorException();
            }
        }

        String text() {
            String key =
                    after == null ? "" : Base64.getUrlEncoder().withoutPadding().encodeToString(after);
            return partition + "." + key;
        }
    }

    /**
     * A filter of rows. Keys are JSON in UTF-8; null for no bound.
     *
     * @param key that keys must be equal to
     * @param fromKey the least key
     * @param toKey keys must be less than it
     * @param sinceMs of the starts of windows, with it
     * @param untilMs of the starts of windows, without it
     */
    public Filter filter(byte[] key, byte[] fromKey, byte[] toKey, long sinceMs, long untilMs) {
        KeyRange range = fromKey == null && toKey == null ? null : KeyRange.of(shownKey(fromKey), shownKey(toKey));
        return new Filter(shownKey(key), range, sinceMs, untilMs);
    }

    /** Which rows are in an answer. */
    public record Filter(String key, KeyRange range, long sinceMs, long untilMs) {
        boolean accepts(InternalRow row) {
            return (key == null || key.equals(json(row, KEY)))
                    && (range == null || range.contains(json(row, KEY)))
                    && (row.isNullAt(WINDOW_START)
                            || (sinceMs <= row.getLong(WINDOW_START) && row.getLong(WINDOW_START) < untilMs));
        }
    }

    private synchronized byte[] stored(byte[] key, Long windowEndMs) {
        UnsafeRow row =
                (UnsafeRow) group.apply(Map.of("key", key, "timestamp", windowEndMs == null ? 0L : windowEndMs)::get);
        byte[] bytes = row.getBytes();
        byte[] stored = new byte[bytes.length + 1];
        stored[0] = StoredResults.ENCODING;
        System.arraycopy(bytes, 0, stored, 1, bytes.length);
        return stored;
    }

    private synchronized String shownKey(byte[] key) {
        return key == null ? null : json(shownKey.apply(Map.of("key", key)::get), KEY);
    }

    /** The rows of an entry as JSON, without those that the filter leaves out. */
    private synchronized List<String> rows(byte[] key, byte[] value, Filter filter) {
        List<Supplier<InternalRow>> found = values.rows(key, value);
        List<String> rows = new ArrayList<>();
        Iterator<Supplier<InternalRow>> each = found.iterator();
        for (Supplier<InternalRow> place : places.rows(key, value)) {
            InternalRow at = place.get();
            Supplier<InternalRow> row = each.next();
            if (filter.accepts(at)) {
                rows.add(row(at, row));
            }
        }
        return rows;
    }

    /** A row as JSON. A value that fails is null, with the condition. */
    private static String row(InternalRow place, Supplier<InternalRow> row) {
        String head = "{\"key\":" + json(place, KEY) + ",\"window\":" + window(place) + ",\"value\":";
        try {
            return head + json(row.get(), VALUE) + ",\"error\":null}";
        } catch (RuntimeException failed) {
            String condition = failed instanceof SparkThrowable error ? error.getCondition() : null;
            return head + "null,\"error\":\"" + (condition == null ? "INTERNAL" : condition) + "\"}";
        }
    }

    private static String json(InternalRow row, int column) {
        return row.isNullAt(column) ? "null" : new String(row.getBinary(column), StandardCharsets.UTF_8);
    }

    private static String window(InternalRow row) {
        return row.isNullAt(WINDOW_START)
                ? "null"
                : "{\"start\":\"" + time(row, WINDOW_START) + "\",\"end\":\"" + time(row, WINDOW_END) + "\"}";
    }

    private static Instant time(InternalRow row, int column) {
        return Instant.ofEpochMilli(row.getLong(column));
    }

    /** The version that all partitions have; a negative number without one. */
    private static long version(List<CommittedVersion> partitions, long committed) {
        long newest = committed;
        for (int attempt = 0; attempt < ATTEMPTS && !partitions.isEmpty(); attempt++) {
            Set<Long> versions = new HashSet<>();
            for (CommittedVersion partition : partitions) {
                versions.add(partition.readable(newest));
            }
            if (versions.size() == 1) {
                return versions.iterator().next();
            }
            newest = Collections.max(versions); // a batch has begun after it: it is committed
        }
        return -1;
    }
}
