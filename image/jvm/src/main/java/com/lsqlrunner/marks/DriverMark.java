package com.lsqlrunner.marks;

import com.lsqlrunner.errors.Condition;
import com.lsqlrunner.errors.LsqlException;
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.kafka.common.TopicPartition;

/**
 * The mark of a task on a worker, kept in the driver: it outlives the executor, and the driver counts the executors
 * that a record has ended.
 */
final class DriverMark extends ReadMark {
    private static volatile Predicate<MarkedPlaces.Place> driver = place -> true;

    private final String stream;

    DriverMark(String stream) {
        this.stream = stream;
    }

    /**
     * Sets the function that sends the place of a record to the driver, or null when no record is being read. The
     * function returns whether the record may be read. Called once in an executor.
     */
    static void askWith(Predicate<MarkedPlaces.Place> ask) {
        driver = ask;
    }

    /** @throws LsqlException if the record has ended other executors */
    @Override
    void write(TopicPartition partition, long offset) {
        MarkedPlaces.Place place = new MarkedPlaces.Place(stream, partition.topic(), partition.partition(), offset);
        if (!driver.test(place)) {
            throw new LsqlException(
                    Condition.LSQL_RECORD_EXCEEDS_HEAP,
                    Map.of(
                            "topic", partition.topic(),
                            "partition", Integer.toString(partition.partition()),
                            "offset", Long.toString(offset),
                            "heap_mib", Long.toString(heapMib())));
        }
    }

    @Override
    void remove() {
        driver.test(null);
    }

    private static long heapMib() {
        String bytes = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("MaxHeapSize")
                .getValue();
        return Long.parseLong(bytes) >> 20;
    }
}
