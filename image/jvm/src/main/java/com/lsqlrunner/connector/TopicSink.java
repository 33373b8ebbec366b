package com.lsqlrunner.connector;

import com.lsqlrunner.PythonEntry;
import com.lsqlrunner.batch.BatchTrigger;
import com.lsqlrunner.continuous.ContinuousQuery;
import com.lsqlrunner.continuous.ContinuousTasks;
import com.lsqlrunner.delivery.RecordSender;
import com.lsqlrunner.delivery.SharedProducers;
import com.lsqlrunner.delivery.TaskTransactions;
import com.lsqlrunner.delivery.TransactionalOutput;
import com.lsqlrunner.delivery.WorkerProducers;
import com.lsqlrunner.operators.TaskBatch;
import com.lsqlrunner.realtime.OpenOutput;
import com.lsqlrunner.realtime.RealTime;
import com.lsqlrunner.sink.BatchGate;
import com.lsqlrunner.sink.MutedQueries;
import com.lsqlrunner.topic.Acknowledgements;
import com.lsqlrunner.topic.BatchAcknowledgements;
import com.lsqlrunner.topic.KafkaOptions;
import com.lsqlrunner.topic.RecordColumns;
import com.lsqlrunner.topic.TopicOutput;
import com.lsqlrunner.topic.TopicWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory;
import org.apache.spark.sql.connector.write.streaming.StreamingWrite;
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Writes records to topics. The rows have the columns of {@link RecordColumns}: each row names its topic. Options:
 * {@code output} ({@code <app id>/<query>}, see {@link TopicOutput}), {@code writer} (the beginning of the batch
 * header, before the id of the batch; records have no such header without it), {@code continuous.batch} (the id of the
 * batch at which a {@link ContinuousQuery} began), {@code on.workers} (whether tasks run in other JVMs: {@code true} or
 * {@code false}), {@code one.result} (whether an identity has one result, also while a batch is open), and settings of
 * the producer with the prefix {@code kafka.}.
 *
 * <p>Spark's own sink cannot set timestamps, and would need a new array of headers for each record.
 */
@PythonEntry
public final class TopicSink implements TableProvider {
    @Override
    public StructType inferSchema(CaseInsensitiveStringMap options) {
        return RecordColumns.SCHEMA;
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new Topics();
    }

    private record Topics() implements Table, SupportsWrite {
        @Override
        public String name() {
            return "topics";
        }

        @Override
        public Column[] columns() {
            return new Column[0];
        }

        @Override
        public Set<TableCapability> capabilities() {
            return Set.of(
                    TableCapability.STREAMING_WRITE, TableCapability.BATCH_WRITE, TableCapability.ACCEPT_ANY_SCHEMA);
        }

        @Override
        public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
            return new Builder(info);
        }
    }

    private record Builder(LogicalWriteInfo info) implements WriteBuilder, SupportsStreamingUpdateAsAppend {
        @Override
        public Write build() {
            Map<String, String> producer = KafkaOptions.of(info.options().asCaseSensitiveMap());
            RecordColumns columns = RecordColumns.of(info.schema());
            return new TopicsWrite(
                    info.options().get("output"),
                    info.options().get("writer"),
                    info.options().get("continuous.batch"),
                    info.options().getBoolean(TopicOutput.ON_WORKERS, false),
                    info.options().getBoolean("one.result", false),
                    producer,
                    columns);
        }
    }

    /**
     * @param onWorkers whether the tasks run in other JVMs
     * @param hasOneResult whether an open batch writes one record with an identity
     */
    private record TopicsWrite(
            String output,
            String writer,
            String continuousBatch,
            boolean onWorkers,
            boolean hasOneResult,
            Map<String, String> producer,
            RecordColumns columns)
            implements Write {
        @Override
        public StreamingWrite toStreaming() {
            TransactionalOutput all = TopicOutput.transactions(output);
            RealTime realTime = onWorkers ? null : RealTime.of(output);
            if (realTime != null) {
                realTime.writeTo(new BatchOutput(this, all));
            }
            return new TopicsStreamingWrite(this, TopicOutput.gate(output), all, realTime);
        }

        @Override
        public BatchWrite toBatch() {
            return new TopicsBatchWrite(this);
        }

        private WriterFactory factory(TaskTransactions tasks) {
            return new WriterFactory(
                    output,
                    writer,
                    continuousBatch,
                    onWorkers ? TopicOutput.start(output) : null,
                    tasks,
                    producer,
                    columns);
        }

        /** Spark logs it: without the settings of the producer, which have credentials. */
        @Override
        public String toString() {
            return "TopicsWrite[output=" + output + "]";
        }
    }

    /** Writes the results of open batches. */
    private record BatchOutput(TopicsWrite write, TransactionalOutput transactions) implements OpenOutput {
        @Override
        public Function<Acknowledgements, TopicWriter> open(long batch) {
            if (transactions == null) {
                return task -> write.factory(null).writer(Long.toString(batch), () -> task);
            }
            String name = batch + "." + transactions.open(batch);
            return task -> {
                TopicWriter writer = write.factory(null).writer(name, () -> task);
                return write.hasOneResult ? writer : writer.numbered();
            };
        }

        @Override
        public boolean isRepeating() {
            return transactions != null && transactions.repeatsOpening();
        }

        @Override
        public Duration commitInterval() {
            return transactions == null ? Duration.ofDays(1) : transactions.commitInterval();
        }
    }

    private record TopicsStreamingWrite(
            TopicsWrite write, BatchGate gate, TransactionalOutput transactions, RealTime realTime)
            implements StreamingWrite {
        @Override
        public StreamingDataWriterFactory createStreamingWriterFactory(PhysicalWriteInfo info) {
            boolean isProcessed = realTime != null && realTime.isClosed();
            gate.begin(isProcessed);
            TaskBatch.repeatsOpening(transactions != null && transactions.repeatsOpening());
            TaskTransactions tasks = transactions == null ? null : transactions.begin(info.numPartitions());
            return MutedQueries.contains(write.output) ? new NoRecords() : write.factory(tasks);
        }

        @Override
        public boolean useCommitCoordinator() {
            return false;
        }

        @Override
        public void commit(long batch, WriterCommitMessage[] messages) {
            if (transactions != null) {
                transactions.batchEnded(
                        batch,
                        TopicWriter.records(messages) + (realTime == null ? 0 : realTime.written()),
                        TopicWriter.tasks(messages),
                        BatchTrigger.positions(write.output));
            }
            if (realTime != null) {
                realTime.batchEnded();
            }
            gate.end();
        }

        @Override
        public void abort(long batch, WriterCommitMessage[] messages) {
            gate.end();
        }
    }

    /** The writers of a batch whose results are not written. */
    private record NoRecords() implements StreamingDataWriterFactory, DataWriter<InternalRow> {
        private static final long serialVersionUID = 1L;

        @Override
        public DataWriter<InternalRow> createWriter(int partition, long task, long batch) {
            return this;
        }

        @Override
        public void write(InternalRow row) {}

        @Override
        public WriterCommitMessage commit() {
            return null;
        }

        @Override
        public void abort() {}

        @Override
        public void close() {}
    }

    private record TopicsBatchWrite(TopicsWrite write) implements BatchWrite {
        @Override
        public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
            return write.factory(null);
        }

        @Override
        public boolean useCommitCoordinator() {
            return false;
        }

        @Override
        public void commit(WriterCommitMessage[] messages) {
            SharedProducers.close(write.output);
        }

        @Override
        public void abort(WriterCommitMessage[] messages) {
            SharedProducers.close(write.output);
        }
    }

    /**
     * @param start the name of the start of the query if the tasks run in other JVMs; else null
     * @param tasks null for at-least-once delivery, and if the tasks run in this JVM
     */
    private record WriterFactory(
            String output,
            String writer,
            String continuousBatch,
            String start,
            TaskTransactions tasks,
            Map<String, String> producer,
            RecordColumns columns)
            implements StreamingDataWriterFactory, DataWriterFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public TopicWriter createWriter(int partition, long task, long batch) {
            if (start == null) {
                return writer(Long.toString(batch), BatchAcknowledgements::new);
            }
            RecordSender sender = tasks == null
                    ? WorkerProducers.sender(start, producer)
                    : tasks.sender(batch, partition, isRetry(TaskContext.get()));
            return new TopicWriter(sender, columns, name(Long.toString(batch)), null, BatchAcknowledgements::new);
        }

        @Override
        public TopicWriter createWriter(int partition, long task) {
            return writer(
                    continuousBatch, continuousBatch == null ? BatchAcknowledgements::new : ContinuousTasks::current);
        }

        /** Tasks of an earlier attempt of the stage may still be running. */
        private static boolean isRetry(TaskContext task) {
            return task.attemptNumber() > 0 || task.stageAttemptNumber() > 0;
        }

        /** Without the settings of the producer, which have credentials. */
        @Override
        public String toString() {
            return "WriterFactory[output=" + output + "]";
        }

        private TopicWriter writer(String batch, Supplier<Acknowledgements> task) {
            byte[] name = name(batch);
            TransactionalOutput transactions = TopicOutput.transactions(output);
            return transactions == null
                    ? new TopicWriter(SharedProducers.sender(output, producer), columns, name, null, task)
                    : new TopicWriter(transactions.sender(), columns, name, transactions.written(), task);
        }

        /** The value of the batch header; null for records without it. */
        private byte[] name(String batch) {
            return writer == null ? null : (writer + batch).getBytes(StandardCharsets.UTF_8);
        }
    }
}
