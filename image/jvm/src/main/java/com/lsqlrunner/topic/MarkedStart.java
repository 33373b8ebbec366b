package com.lsqlrunner.topic;

import com.lsqlrunner.marks.FileMark;
import com.lsqlrunner.marks.ReadMark;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * The first records of a topic that a continuous query reads with a {@link ReadMark}, if the JVM ran out of memory
 * before.
 *
 * @param file of the marks
 * @param until by partition: the offset after the last of these records
 * @param newConsumer opens consumers with {@link MarkedReader#settings}
 */
public record MarkedStart(Path file, Map<TopicPartition, Long> until, Supplier<Consumer<byte[], byte[]>> newConsumer) {

    /**
     * The first records of a topic.
     *
     * @param ends the ends of the partitions
     * @param most how many offsets of a partition are read with marks
     */
    public static MarkedStart of(
            Path file,
            Map<TopicPartition, Long> starts,
            Map<TopicPartition, Long> ends,
            long most,
            Supplier<Consumer<byte[], byte[]>> newConsumer) {
        Map<TopicPartition, Long> until = new HashMap<>();
        starts.forEach((partition, start) ->
                until.put(partition, Math.min(ends.getOrDefault(partition, start), start + most)));
        return new MarkedStart(file, Map.copyOf(until), newConsumer);
    }

    /** A reader for the partitions of a task; null if they have no records to read with marks. */
    public MarkedReader reader(Map<TopicPartition, Long> starts, boolean failOnDataLoss, Duration pollTimeout) {
        List<OffsetRange> ranges = new ArrayList<>();
        starts.forEach((partition, start) -> {
            long end = until.getOrDefault(partition, start);
            if (end > start) {
                ranges.add(new OffsetRange(partition, start, end));
            }
        });
        return ranges.isEmpty()
                ? null
                : new MarkedReader(newConsumer.get(), new FileMark(file), ranges, failOnDataLoss, pollTimeout);
    }
}
