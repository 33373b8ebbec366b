package com.lsqlrunner.tick;

import com.lsqlrunner.PythonEntry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A stream that moves the watermark while a topic has no records: a row {@code time} (LONG, milliseconds) when the
 * clock of the stream has advanced. The option {@code clock} names the clock. The offset is the time, so a repeated
 * batch reads the same rows.
 */
@PythonEntry
public final class Ticks implements TableProvider {
    private static final StructType SCHEMA = new StructType().add("time", DataTypes.LongType, false);
    private static final ConcurrentMap<String, Long> TIMES = new ConcurrentHashMap<>();

    /** Sets a clock to a later time. An earlier time has no effect. */
    public static void advance(String clock, long timeMs) {
        TIMES.merge(clock, timeMs, Math::max);
    }

    /** Sets all clocks to 0. */
    public static void reset() {
        TIMES.clear();
    }

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new TickTable(properties.get("clock"));
    }

    private record TickTable(String clock) implements Table, SupportsRead {
        @Override
        public String name() {
            return "ticks of " + clock;
        }

        @Override
        public Column[] columns() {
            return new Column[] {Column.create("time", DataTypes.LongType, false)};
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return () -> new TickScan(clock);
        }
    }

    private record TickScan(String clock) implements Scan {
        @Override
        public StructType readSchema() {
            return SCHEMA;
        }

        @Override
        public String description() {
            return "ticks of " + clock;
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new TickStream(clock);
        }
    }

    private record TickStream(String clock) implements MicroBatchStream, SupportsAdmissionControl {
        @Override
        public Offset initialOffset() {
            return new Time(0);
        }

        @Override
        public Offset latestOffset() {
            throw new UnsupportedOperationException("the latest offset depends on the start offset");
        }

        /** The time of the clock, but not before the start offset: after a restart, no clock has been set yet. */
        @Override
        public Offset latestOffset(Offset start, ReadLimit limit) {
            return new Time(Math.max(((Time) start).timeMs, TIMES.getOrDefault(clock, 0L)));
        }

        @Override
        public Offset deserializeOffset(String json) {
            return new Time(Long.parseLong(json));
        }

        @Override
        public InputPartition[] planInputPartitions(Offset start, Offset end) {
            boolean isSame = start.equals(end);
            return isSame ? new InputPartition[0] : new InputPartition[] {new Tick(((Time) end).timeMs)};
        }

        @Override
        public PartitionReaderFactory createReaderFactory() {
            return partition ->
                    new TickReader(List.of(((Tick) partition).timeMs).iterator());
        }

        @Override
        public void commit(Offset end) {}

        @Override
        public void stop() {}

        /** The description in Spark's reports, so that the rows are not counted as records. */
        @Override
        public String toString() {
            return "ticks of " + clock;
        }
    }

    private static final class Time extends Offset {
        private final long timeMs;

        Time(long timeMs) {
            this.timeMs = timeMs;
        }

        @Override
        public String json() {
            return Long.toString(timeMs);
        }
    }

    private record Tick(long timeMs) implements InputPartition {}

    private static final class TickReader implements PartitionReader<InternalRow> {
        private final java.util.Iterator<Long> remaining;
        private Long current;

        TickReader(java.util.Iterator<Long> remaining) {
            this.remaining = remaining;
        }

        @Override
        public boolean next() {
            boolean hasNext = remaining.hasNext();
            current = hasNext ? remaining.next() : null;
            return hasNext;
        }

        @Override
        public InternalRow get() {
            return new GenericInternalRow(new Object[] {current});
        }

        @Override
        public void close() {}
    }
}
