package com.lsqlrunner.connector;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.batch.BatchTrigger;
import com.lsqlrunner.batch.RangeBatch;
import com.lsqlrunner.batch.TopicStream;
import com.lsqlrunner.continuous.ContinuousQuery;
import com.lsqlrunner.continuous.ContinuousScan;
import com.lsqlrunner.marks.MarkedBatch;
import com.lsqlrunner.tick.EventTimes;
import com.lsqlrunner.topic.RecordRow;
import com.lsqlrunner.topic.TopicConsumer;
import com.lsqlrunner.topic.TopicPartitions;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A topic as a stream, with batches that begin when a {@link BatchTrigger} says so. Its options are those of
 * {@link TopicPartitions}, {@code maxOffsetsPerTrigger} (the most records of a batch), {@code query} (the name of the
 * query that reads it), {@code pace.ms}, {@code topic.id} (see {@link TopicConsumer}), {@code mark} (see
 * {@link MarkedBatch}), {@code inputs} and {@code max.future.ms} (see {@link EventTimes#begin}). As a batch, it is a
 * topic of a {@link ContinuousQuery}, or ranges of offsets.
 */
@PythonEntry
public final class TopicSource implements TableProvider {
    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return RecordRow.SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new Topic();
    }

    private record Topic() implements Table, SupportsRead {
        @Override
        public String name() {
            return "topic";
        }

        @Override
        public Column[] columns() {
            return Stream.of(RecordRow.SCHEMA.fields())
                    .map(each -> Column.create(each.name(), each.dataType()))
                    .toArray(Column[]::new);
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ, TableCapability.BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return () ->
                    new TopicScan(options, new ContinuousScan(options.get("continuous"), options.get("subscribe")));
        }
    }

    private record TopicScan(CaseInsensitiveStringMap options, ContinuousScan continuous) implements Scan {
        @Override
        public StructType readSchema() {
            return RecordRow.SCHEMA;
        }

        @Override
        public String description() {
            return "topic " + options.get("subscribe");
        }

        /** Without the options, which have credentials. */
        @Override
        public String toString() {
            return description();
        }

        /**
         * With the options {@code continuous}, the name of an open {@link ContinuousQuery}, and {@code subscribe}: the
         * same object in each call, because Spark copies its plans, and asks again. Else a {@link RangeBatch}.
         */
        @Override
        public Batch toBatch() {
            return options.containsKey("continuous") ? continuous : new RangeBatch(options);
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new TopicStream(options, checkpoint);
        }
    }
}
