package com.lsqlrunner.realtime;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.Product2;
import scala.collection.Iterator;

/** The exchange between two stages of an open batch: queues of rows, in place of the files of Spark's shuffle. */
final class RowExchange {
    private static final ConcurrentMap<Integer, RowExchange> BY_SHUFFLE = new ConcurrentHashMap<>();

    private final int shuffle;
    private final RowQueue[] queues;

    private RowExchange(int shuffle, int partitions, int writers) {
        this.shuffle = shuffle;
        this.queues =
                Stream.generate(() -> new RowQueue(writers)).limit(partitions).toArray(RowQueue[]::new);
    }

    /**
     * Opens the exchange of a shuffle.
     *
     * @param writers the number of tasks that write
     */
    static RowExchange open(int shuffle, int partitions, int writers) {
        RowExchange exchange = new RowExchange(shuffle, partitions, writers);
        BY_SHUFFLE.put(shuffle, exchange);
        return exchange;
    }

    /** Writes a row and its partition. The row may change afterwards. */
    void write(Product2<?, ?> row) throws InterruptedException {
        queues[(Integer) row._1()].add(((InternalRow) row._2()).copy());
    }

    /** A writer has no more rows. */
    void endWriter() throws InterruptedException {
        for (RowQueue queue : queues) {
            queue.endWriter();
        }
    }

    /** Ends the tasks that wait for a row, or for a reader. */
    void abort() {
        for (RowQueue queue : queues) {
            queue.abort();
        }
    }

    void close() {
        BY_SHUFFLE.remove(shuffle, this);
    }

    /** The open exchange of a shuffle; null if Spark runs the shuffle. */
    static RowExchange of(int shuffle) {
        return BY_SHUFFLE.get(shuffle);
    }

    /**
     * The rows for a partition of the next stage. Its task calls {@code idle} when all rows before have passed through
     * it.
     */
    <K, C> Iterator<Product2<K, C>> rows(int partition, Supplier<Duration> idle) {
        return queues[partition].rows(partition, idle);
    }
}
