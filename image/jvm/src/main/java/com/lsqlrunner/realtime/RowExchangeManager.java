package com.lsqlrunner.realtime;

import com.lsqlrunner.PythonEntry;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.sort.SortShuffleManager;

/** Spark's shuffle, with open exchanges in place of its files for the tasks of an open batch. */
@PythonEntry
public final class RowExchangeManager extends SortShuffleManager {
    public RowExchangeManager(SparkConf conf) {
        super(conf);
    }

    @Override
    public <K, V, C> ShuffleHandle registerShuffle(int shuffle, ShuffleDependency<K, V, C> dependency) {
        OpenStateStores.exchangeMade();
        return super.registerShuffle(shuffle, dependency);
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(
            ShuffleHandle handle,
            int firstMap,
            int lastMap,
            int firstPartition,
            int lastPartition,
            TaskContext context,
            ShuffleReadMetricsReporter metrics) {
        OpenTask task = OpenTask.current();
        RowExchange exchange = task == null ? null : RowExchange.of(handle.shuffleId());
        if (exchange == null) {
            return super.getReader(handle, firstMap, lastMap, firstPartition, lastPartition, context, metrics);
        }
        return () -> exchange.rows(firstPartition, task::idle);
    }
}
