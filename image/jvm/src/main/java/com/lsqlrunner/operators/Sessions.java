package com.lsqlrunner.operators;

import com.lsqlrunner.PythonEntry;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.streaming.ExpiredTimerInfo;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Aggregates records per session: the records of a group that follow one another within the gap. A record may connect
 * two sessions; both are then deleted under their old bounds, and one new session is created. The state contains the
 * sessions of each group that may still change.
 *
 * <p>Input: {@code id} (BINARY, the group), {@code ts} (LONG, milliseconds), {@code partition}, {@code offset},
 * {@code row} (BINARY, the packed arguments), from rows with a watermark. Output: {@code id}, {@code window_start},
 * {@code window_end} (LONG, the times of its first and last record), {@code ts}, {@code result} (BINARY, packed; null
 * for a deleted session), {@code is_unchanged} (BOOLEAN: the session is only repeated,
 * {@link TaskBatch#repeatsOpening}), {@code is_late} (BOOLEAN: not a session, but a record whose session was already
 * closed), {@code late_record} (BINARY: the column of the late record, if the input has it).
 *
 * <p>A session is closed when its end plus the gap is before the watermark. A record is late if the session that
 * contains it would be closed: the session that it starts, or the open sessions that it connects. As in Kafka Streams,
 * an old record within the gap of an open session is therefore not late.
 */
@PythonEntry
public final class Sessions extends StatefulProcessor<byte[], Row, Row> implements QueryableState {
    private static final long serialVersionUID = 1L;
    private static final int ROW = 4;
    private static final int LATE_RECORD = 5;
    private static final long NO_TIMER = Long.MIN_VALUE;
    private static final String OPEN = "open";

    private static final StructType RESULTS = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("window_start", DataTypes.LongType)
            .add("window_end", DataTypes.LongType)
            .add("ts", DataTypes.LongType)
            .add("result", DataTypes.BinaryType)
            .add("is_unchanged", DataTypes.BooleanType)
            .add("is_late", DataTypes.BooleanType)
            .add("late_record", DataTypes.BinaryType);

    private final Aggregates aggregates;
    private final int arguments;
    private final long gapMs;
    private final boolean isFinal;
    private transient ValueState<byte[]> open;
    private transient boolean repeatsOpening;

    private Sessions(Aggregates aggregates, int arguments, long gapMs, boolean isFinal) {
        this.aggregates = aggregates;
        this.arguments = arguments;
        this.gapMs = gapMs;
        this.isFinal = isFinal;
    }

    /**
     * The results of all sessions.
     *
     * @param records the input
     * @param aggregated the computation: {@code rows.agg(...)} over any rows with the columns of {@code row}
     * @param arguments the number of these columns
     * @param gapMs records at most this far apart belong to one session
     * @param isFinal whether a session has one result, when it can no longer change, instead of one for each change
     */
    public static Dataset<Row> of(
            Dataset<Row> records, Dataset<Row> aggregated, int arguments, long gapMs, boolean isFinal) {
        return records.groupBy("id")
                .as(Encoders.BINARY(), Encoders.row(records.schema()))
                .transformWithState(
                        new Sessions(Aggregates.of(aggregated), arguments, gapMs, isFinal),
                        TimeMode.EventTime(),
                        OutputMode.Update(),
                        Encoders.row(RESULTS));
    }

    @Override
    public void init(OutputMode output, TimeMode time) {
        repeatsOpening = TaskBatch.repeatsOpening();
        open = getHandle().getValueState(OPEN, Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> records, TimerValues timers) {
        GroupState kept = fromBytes(open.get());
        List<Session> before = kept.sessions;
        List<Session> sessions = new ArrayList<>(before);
        List<Session> deleted = new ArrayList<>();
        List<Row> results = new ArrayList<>();
        long watermark = timers.getCurrentWatermarkInMs();
        for (Row record : ArrivalOrder.sorted(records)) {
            long time = record.getLong(ArrivalOrder.TS);
            if (!add(sessions, deleted, time, arguments(record.getAs(ROW)), watermark)) {
                byte[] late = record.size() > LATE_RECORD ? record.getAs(LATE_RECORD) : null;
                results.add(RowFactory.create(id, null, null, time, null, false, true, late));
            }
        }
        keep(sessions, kept.timerMs);
        if (!isFinal) {
            for (Session session : deleted) {
                if (before.contains(session)) {
                    results.add(result(id, session, null, false));
                }
            }
            for (Session session : sessions) {
                if (session.isChanged || repeatsOpening) {
                    results.add(result(id, session, aggregates.results(session.buffer), !session.isChanged));
                }
            }
        }
        return CollectionConverters.asScala(results.iterator());
    }

    @Override
    public Iterator<Row> handleExpiredTimer(byte[] id, TimerValues timers, ExpiredTimerInfo expired) {
        List<Session> left = new ArrayList<>();
        List<Row> results = new ArrayList<>();
        for (Session session : fromBytes(open.get()).sessions) {
            if (session.end + gapMs >= timers.getCurrentWatermarkInMs()) {
                left.add(session);
            } else if (isFinal) {
                results.add(result(id, session, aggregates.results(session.buffer), false));
            }
        }
        keep(left, NO_TIMER);
        return CollectionConverters.asScala(results.iterator());
    }

    @Override
    public String variable() {
        return OPEN;
    }

    @Override
    public List<Function<String, Object>> rows(byte[] id, byte[] stored) {
        List<Function<String, Object>> rows = new ArrayList<>();
        for (Session session : fromBytes(stored).sessions) {
            rows.add(column -> switch (column) {
                case "id" -> id;
                case "window_start" -> session.start;
                case "window_end", "ts" -> session.end;
                case "result" -> aggregates.results(session.buffer);
                case "is_unchanged", "is_late" -> false;
                default -> null;
            });
        }
        return rows;
    }

    private InternalRow arguments(byte[] packed) {
        UnsafeRow row = new UnsafeRow(arguments);
        row.pointTo(packed, packed.length);
        return row;
    }

    private static Row result(byte[] id, Session session, byte[] result, boolean isUnchanged) {
        return RowFactory.create(id, session.start, session.end, session.end, result, isUnchanged, false, null);
    }

    /**
     * Adds a record to its session, and merges the sessions that the record connects.
     *
     * @return false for a late record, which is not added
     */
    private boolean add(List<Session> sessions, List<Session> deleted, long time, InternalRow row, long watermark) {
        List<Session> connected = new ArrayList<>();
        long end = time;
        for (Session session : sessions) {
            // A closed session has its final result. An on-time record near it starts another session.
            boolean isClosed = session.end + gapMs < watermark;
            if (!isClosed && session.start - gapMs <= time && time <= session.end + gapMs) {
                connected.add(session);
                end = Math.max(end, session.end);
            }
        }
        if (end + gapMs < watermark) {
            return false;
        }
        if (connected.size() == 1 && connected.get(0).start <= time && time <= connected.get(0).end) {
            aggregates.add(connected.get(0).buffer, row);
            connected.get(0).isChanged = true;
            return true;
        }
        InternalRow[] buffer = aggregates.empty();
        aggregates.add(buffer, row);
        Session merged = new Session(time, time, buffer);
        merged.isChanged = true;
        connected.sort(Comparator.comparingLong(session -> session.start));
        InternalRow[] all = aggregates.empty();
        for (Session session : connected) {
            aggregates.merge(all, session.buffer);
            merged.start = Math.min(merged.start, session.start);
            merged.end = Math.max(merged.end, session.end);
        }
        aggregates.merge(all, buffer);
        merged.buffer = all;
        sessions.removeAll(connected);
        deleted.addAll(connected);
        sessions.add(merged);
        return true;
    }

    /**
     * Writes the sessions to the state, and sets a timer for the time when the first of them can no longer change. A
     * group has one timer, which is only moved to an earlier time. A timer that fires too early sets the next one,
     * which costs less than moving the timer with each record.
     */
    private void keep(List<Session> sessions, long timerMs) {
        if (sessions.isEmpty()) {
            open.clear();
            return;
        }
        long firstEndMs =
                sessions.stream().mapToLong(session -> session.end).min().orElseThrow() + gapMs + 1;
        long setMs = timerMs;
        if (timerMs == NO_TIMER || firstEndMs < timerMs) {
            if (timerMs != NO_TIMER) {
                getHandle().deleteTimer(timerMs);
            }
            getHandle().registerTimer(firstEndMs);
            setMs = firstEndMs;
        }
        open.update(toBytes(sessions, setMs));
    }

    private GroupState fromBytes(byte[] bytes) {
        List<Session> sessions = new ArrayList<>();
        if (bytes == null) {
            return new GroupState(sessions, NO_TIMER);
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            long timerMs = in.readLong();
            for (int left = in.readInt(); left > 0; left--) {
                long start = in.readLong();
                long end = in.readLong();
                sessions.add(new Session(start, end, aggregates.buffer(in.readNBytes(in.readInt()))));
            }
            return new GroupState(sessions, timerMs);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private byte[] toBytes(List<Session> sessions, long timerMs) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(timerMs);
            out.writeInt(sessions.size());
            for (Session session : sessions) {
                byte[] buffer = aggregates.bytes(session.buffer);
                out.writeLong(session.start);
                out.writeLong(session.end);
                out.writeInt(buffer.length);
                out.write(buffer);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return bytes.toByteArray();
    }

    /** The state of a group: its sessions that may still change, and the time of its timer. */
    private record GroupState(List<Session> sessions, long timerMs) {}

    /** A session. Sessions are compared by identity: two sessions of a group never have the same bounds. */
    private static final class Session {
        long start;
        long end;
        InternalRow[] buffer;
        boolean isChanged;

        Session(long start, long end, InternalRow[] buffer) {
            this.start = start;
            this.end = end;
            this.buffer = buffer;
        }
    }
}
