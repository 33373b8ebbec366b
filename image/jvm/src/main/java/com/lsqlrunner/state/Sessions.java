package com.lsqlrunner.state;

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
 * Aggregates per session: of a group the records with no longer gap between them. A record may put two sessions
 * together; both are gone then, under their old bounds, and one is there. State: of every group the sessions that may
 * still change.
 *
 * <p>In: {@code id} (BINARY, the group), {@code ts} (LONG, milliseconds), {@code partition}, {@code offset},
 * {@code row} (BINARY, the packed arguments), from rows under a watermark. Out: {@code id}, {@code window_start},
 * {@code window_end} (LONG: the times of its first and last record), {@code ts}, {@code result} (BINARY, packed; null
 * for a session that is gone), {@code is_late} (BOOLEAN: not a session, but a record that came when its own was
 * closed).
 *
 * <p>A session is closed when its end and the gap lie before the watermark. As with Kafka Streams, a record is late by
 * the session that it would be part of, not by its own time.
 */
@PythonEntry
public final class Sessions extends StatefulProcessor<byte[], Row, Row> {
    private static final long serialVersionUID = 1L;
    private static final int ROW = 4;
    private static final long NO_TIMER = Long.MIN_VALUE;

    private static final StructType RESULTS = new StructType()
            .add("id", DataTypes.BinaryType)
            .add("window_start", DataTypes.LongType)
            .add("window_end", DataTypes.LongType)
            .add("ts", DataTypes.LongType)
            .add("result", DataTypes.BinaryType)
            .add("is_late", DataTypes.BooleanType);

    private final Aggregates aggregates;
    private final int arguments;
    private final long gapMs;
    private final boolean isFinal;
    private transient ValueState<byte[]> open;

    private Sessions(Aggregates aggregates, int arguments, long gapMs, boolean isFinal) {
        this.aggregates = aggregates;
        this.arguments = arguments;
        this.gapMs = gapMs;
        this.isFinal = isFinal;
    }

    /**
     * The results of every session.
     *
     * @param records the input
     * @param aggregated what is computed: {@code rows.agg(...)} over any rows with the columns that {@code row} is
     *     packed of
     * @param arguments how many columns that are
     * @param gapMs records so far apart are still of one session
     * @param isFinal a session has one result, when it can change no more; else each change has one
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
        open = getHandle().getValueState("open", Encoders.BINARY(), TTLConfig.NONE());
    }

    @Override
    public Iterator<Row> handleInputRows(byte[] id, Iterator<Row> records, TimerValues timers) {
        Open kept = read(open.get());
        List<Session> before = kept.sessions;
        List<Session> sessions = new ArrayList<>(before);
        List<Session> gone = new ArrayList<>();
        List<Row> results = new ArrayList<>();
        long watermark = timers.getCurrentWatermarkInMs();
        for (Row record : ArrivalOrder.sorted(records)) {
            long time = record.getLong(ArrivalOrder.TS);
            if (!put(sessions, gone, time, arguments(record.getAs(ROW)), watermark)) {
                results.add(RowFactory.create(id, null, null, time, null, true));
            }
        }
        keep(sessions, kept.timerMs);
        if (!isFinal) {
            for (Session session : gone) {
                if (before.contains(session)) {
                    results.add(RowFactory.create(id, session.start, session.end, session.end, null, false));
                }
            }
            for (Session session : sessions) {
                if (session.isChanged) {
                    results.add(result(id, session));
                }
            }
        }
        return CollectionConverters.asScala(results.iterator());
    }

    @Override
    public Iterator<Row> handleExpiredTimer(byte[] id, TimerValues timers, ExpiredTimerInfo expired) {
        List<Session> left = new ArrayList<>();
        List<Row> results = new ArrayList<>();
        for (Session session : read(open.get()).sessions) {
            if (session.end + gapMs >= timers.getCurrentWatermarkInMs()) {
                left.add(session);
            } else if (isFinal) {
                results.add(result(id, session));
            }
        }
        keep(left, NO_TIMER);
        return CollectionConverters.asScala(results.iterator());
    }

    private InternalRow arguments(byte[] packed) {
        UnsafeRow row = new UnsafeRow(arguments);
        row.pointTo(packed, packed.length);
        return row;
    }

    private Row result(byte[] id, Session session) {
        return RowFactory.create(
                id, session.start, session.end, session.end, aggregates.results(session.buffer), false);
    }

    /**
     * Puts a record into the session that it belongs to, which takes in all that are now no longer a gap apart.
     *
     * @return false for a record that is late, and is not put anywhere
     */
    private boolean put(List<Session> sessions, List<Session> gone, long time, InternalRow row, long watermark) {
        List<Session> near = new ArrayList<>();
        long end = time;
        for (Session session : sessions) {
            // One that is closed has its last result. A record that is not late itself begins another beside it.
            boolean isOver = session.end + gapMs < watermark;
            if (!isOver && session.start - gapMs <= time && time <= session.end + gapMs) {
                near.add(session);
                end = Math.max(end, session.end);
            }
        }
        if (end + gapMs < watermark) {
            return false;
        }
        if (near.size() == 1 && near.get(0).start <= time && time <= near.get(0).end) {
            aggregates.add(near.get(0).buffer, row);
            near.get(0).isChanged = true;
            return true;
        }
        InternalRow[] buffer = aggregates.empty();
        aggregates.add(buffer, row);
        Session grown = new Session(time, time, buffer);
        grown.isChanged = true;
        near.sort(Comparator.comparingLong(session -> session.start));
        InternalRow[] all = aggregates.empty();
        for (Session session : near) {
            aggregates.merge(all, session.buffer);
            grown.start = Math.min(grown.start, session.start);
            grown.end = Math.max(grown.end, session.end);
        }
        aggregates.merge(all, buffer);
        grown.buffer = all;
        sessions.removeAll(near);
        gone.addAll(near);
        sessions.add(grown);
        return true;
    }

    /**
     * Writes the sessions to the state, and asks to be called when the first of them can change no more. A group has
     * one timer. It is moved only to an earlier time: one that comes too early sets the next, which costs less than to
     * move it with each record.
     */
    private void keep(List<Session> sessions, long timerMs) {
        if (sessions.isEmpty()) {
            open.clear();
            return;
        }
        long wantedMs =
                sessions.stream().mapToLong(session -> session.end).min().orElseThrow() + gapMs + 1;
        long setMs = timerMs;
        if (timerMs == NO_TIMER || wantedMs < timerMs) {
            if (timerMs != NO_TIMER) {
                getHandle().deleteTimer(timerMs);
            }
            getHandle().registerTimer(wantedMs);
            setMs = wantedMs;
        }
        open.update(written(sessions, setMs));
    }

    private Open read(byte[] bytes) {
        List<Session> sessions = new ArrayList<>();
        if (bytes == null) {
            return new Open(sessions, NO_TIMER);
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            long timerMs = in.readLong();
            for (int left = in.readInt(); left > 0; left--) {
                long start = in.readLong();
                long end = in.readLong();
                sessions.add(new Session(start, end, aggregates.buffer(in.readNBytes(in.readInt()))));
            }
            return new Open(sessions, timerMs);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private byte[] written(List<Session> sessions, long timerMs) {
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

    /** What the state has of a group: its sessions that may still change, and when its timer is. */
    private record Open(List<Session> sessions, long timerMs) {}

    /** CachedState by its object: two sessions of a group never have the same bounds. */
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
