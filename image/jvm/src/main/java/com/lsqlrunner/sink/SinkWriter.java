package com.lsqlrunner.sink;

import com.lsqlrunner.PythonEntry;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.ForeachPartitionFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/**
 * Writes the micro-batches of one query to a sink; each task writes its own rows. The columns of the rows are topic,
 * partition, offset, deleted, and then the columns of the table: dates as days and timestamps as microseconds since
 * 1970 UTC.
 */
@PythonEntry
public final class SinkWriter extends StoppableWriter {
    private static final long serialVersionUID = 1L;

    /** The number of columns before the columns of the table. */
    private static final int LEADING_COLUMNS = 4;

    /** Spark sets this property for the jobs of a streaming query: the query id in the checkpoint. */
    private static final String QUERY_ID = "sql.streaming.queryId";

    private final String writer;
    private final String kind;
    private final String jars;

    @SuppressWarnings("serial") // never serialized
    private final Map<String, String> settings;

    private final SinkTable table;

    /**
     * @param writer {@code <app id>/<query>}
     * @param kind postgresql or redis
     * @param jars the folder with the clients' jars
     * @param settings the settings that {@link Sinks#of} accepts
     */
    public SinkWriter(String writer, String kind, String jars, Map<String, String> settings, SinkTable table) {
        this.writer = writer;
        this.kind = kind;
        this.jars = jars;
        this.settings = Map.copyOf(settings);
        this.table = table;
    }

    /** Creates a table from the values that Python passes. */
    public static SinkTable table(
            String name,
            List<String> columns,
            List<String> types,
            List<String> key,
            boolean upsert,
            boolean creates,
            int batchRows,
            String store) {
        return new SinkTable(name, columns, types, key, upsert, creates, batchRows, store);
    }

    /** See {@link Sink#prepare}. */
    public void prepare() {
        Sinks.of(kind, jars, settings).prepare(table);
    }

    /** See {@link Sink#newestBatch}. */
    public long newestBatch(String run) {
        return Sinks.of(kind, jars, settings).newestBatch(table, writer, run);
    }

    @Override
    protected void write(Dataset<Row> rows, long batchId) {
        if (MutedQueries.contains(writer)) {
            rows.foreachPartition((ForeachPartitionFunction<Row>) each -> each.forEachRemaining(row -> {}));
            return;
        }
        String run = rows.sparkSession().sparkContext().getLocalProperty(QUERY_ID);
        rows.foreachPartition(new PartitionWriter(writer, run, batchId, kind, jars, settings, table));
    }

    /** The work for one partition of a batch. */
    private record PartitionWriter(
            String writer,
            String run,
            long batch,
            String kind,
            String jars,
            Map<String, String> settings,
            SinkTable table)
            implements ForeachPartitionFunction<Row> {
        private static final long serialVersionUID = 1L;

        /** Without the settings, which have the password. */
        @Override
        public String toString() {
            return "PartitionWriter[writer=" + writer + ", batch=" + batch + "]";
        }

        @Override
        public void call(Iterator<Row> rows) {
            if (rows.hasNext()) {
                Sink.Task task = new Sink.Task(writer, run, batch, TaskContext.getPartitionId());
                Sinks.of(kind, jars, settings).write(table, task, new SinkRows(rows, table.types()));
            }
        }
    }

    private record SinkRows(Iterator<Row> rows, List<String> types) implements Iterator<SinkRow> {
        @Override
        public boolean hasNext() {
            return rows.hasNext();
        }

        @Override
        public SinkRow next() {
            Row row = rows.next();
            Object[] values = new Object[types.size()];
            for (int column = 0; column < values.length; column++) {
                values[column] = value(row.get(LEADING_COLUMNS + column), types.get(column));
            }
            boolean hasRecord = !row.isNullAt(0);
            return new SinkRow(
                    hasRecord ? row.getString(0) : null,
                    hasRecord ? row.getInt(1) : 0,
                    hasRecord ? row.getLong(2) : 0,
                    row.getBoolean(3),
                    values);
        }

        private static Object value(Object value, String type) {
            if (value == null) {
                return null;
            }
            return switch (type) {
                case "date" -> LocalDate.ofEpochDay((Integer) value);
                case "time" -> LocalTime.ofNanoOfDay(TimeUnit.MICROSECONDS.toNanos((Long) value));
                case "timestamp" ->
                    Instant.EPOCH.plus((Long) value, ChronoUnit.MICROS).atOffset(ZoneOffset.UTC);
                default -> value;
            };
        }
    }
}
