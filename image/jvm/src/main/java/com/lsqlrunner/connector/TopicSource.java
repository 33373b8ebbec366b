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
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A topic as a stream: Spark's Kafka source, with batches that begin when a {@link BatchTrigger} says so. It has the
 * options of Spark's source, and {@code query} (the name of the query that reads it), {@code pace.ms}, {@code topic.id}
 * (see {@link TopicConsumer}), {@code mark} (see {@link MarkedBatch}), {@code inputs} and {@code max.future.ms} (see
 * {@link EventTimes#begin}). As a batch, it is a topic of a {@link ContinuousQuery}, or ranges of offsets.
 */
@PythonEntry
public final class TopicSource implements TableProvider {
    private final KafkaSourceProvider kafka = new KafkaSourceProvider();

    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return RecordRow.schema(kafka.inferSchema(options));
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new Topic(kafka.getTable(new CaseInsensitiveStringMap(properties)));
    }

    private record Topic(KafkaSourceProvider.KafkaTable kafka) implements Table, SupportsRead {
        @Override
        public String name() {
            return kafka.name();
        }

        @Override
        public Column[] columns() {
            return Stream.of(kafka.columns())
                    .map(each -> Column.create(each.name(), RecordRow.typeOf(each.name(), each.dataType())))
                    .toArray(Column[]::new);
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(TableCapability.MICRO_BATCH_READ, TableCapability.BATCH_READ);
        }

        @Override
        public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
            return () -> new TopicScan(
                    kafka.newScanBuilder(options).build(),
                    options,
                    new ContinuousScan(options.get("continuous"), options.get("subscribe")));
        }
    }

    private record TopicScan(Scan kafka, CaseInsensitiveStringMap options, ContinuousScan continuous) implements Scan {
        @Override
        public StructType readSchema() {
            return RecordRow.schema(kafka.readSchema());
        }

        @Override
        public String description() {
            return kafka.description();
        }

        /** Without the options, which have credentials. */
        @Override
        public String toString() {
            return description();
        }

        @Override
        public CustomMetric[] supportedCustomMetrics() {
            return kafka.supportedCustomMetrics();
        }

        /**
         * With the options {@code continuous}, the name of an open {@link ContinuousQuery}, and {@code subscribe}: the
         * same object in each call, because Spark copies its plans, and asks again. Else a batch of the ranges of
         * offsets that the options of Spark's source name.
         */
        @Override
        public Batch toBatch() {
            return options.containsKey("continuous") ? continuous : new RangeBatch(kafka.toBatch());
        }

        @Override
        public MicroBatchStream toMicroBatchStream(String checkpoint) {
            return new TopicStream((KafkaMicroBatchStream) kafka.toMicroBatchStream(checkpoint), options);
        }
    }
}
