package com.lsqlrunner.continuous;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/** The records of a topic for one INSERT of a {@link ContinuousQuery}. */
public final class ContinuousScan implements Batch {
    private final String query;
    private final String topic;
    private InputPartition[] tasks;

    public ContinuousScan(String query, String topic) {
        this.query = query;
        this.topic = topic;
    }

    /** Spark calls it several times. */
    @Override
    public synchronized InputPartition[] planInputPartitions() {
        if (tasks != null) {
            return tasks;
        }
        ContinuousTopic source = ContinuousQuery.topic(query, topic);
        int scan = source.addScan();
        tasks = new InputPartition[source.tasks()];
        for (int number = 0; number < tasks.length; number++) {
            tasks[number] = new Task(query, topic, scan, number);
        }
        return tasks;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return new Factory();
    }

    private record Task(String query, String topic, int scan, int number) implements InputPartition {
        private static final long serialVersionUID = 1L;
    }

    private static final class Factory implements PartitionReaderFactory {
        private static final long serialVersionUID = 1L;

        @Override
        public PartitionReader<InternalRow> createReader(InputPartition partition) {
            Task task = (Task) partition;
            ContinuousTask progress = new ContinuousTask();
            ContinuousTasks.add(progress);
            return ContinuousQuery.topic(task.query, task.topic).reader(task.scan, task.number, progress);
        }
    }
}
