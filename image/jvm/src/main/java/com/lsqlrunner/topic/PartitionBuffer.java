package com.lsqlrunner.topic;

import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** The polled records of one partition, and how far its current range is read. */
final class PartitionBuffer {
    private final TopicPartition partition;
    private List<ConsumerRecord<byte[], byte[]>> records = List.of();
    private int index;
    private long until;

    /** The offset after the last record of the previous range, or after the last record that was returned. */
    private long position = -1;

    /** The offset after the polled records, and after offsets that have no record. */
    private long polledUntil;

    PartitionBuffer(TopicPartition partition) {
        this.partition = partition;
    }

    TopicPartition partition() {
        return partition;
    }

    /**
     * Begins a range.
     *
     * @return whether the consumer has to seek its first offset, because the range does not follow the previous one
     */
    boolean begin(OffsetRange range) {
        until = range.until();
        if (range.from() == position) {
            return false;
        }
        skipTo(range.from());
        return true;
    }

    /** Drops the polled records: the consumer continues at an offset. */
    void skipTo(long offset) {
        records = List.of();
        index = 0;
        position = offset;
        polledUntil = offset;
    }

    /** The next record of the range; null if none is polled. */
    ConsumerRecord<byte[], byte[]> next() {
        if (index == records.size() || records.get(index).offset() >= until) {
            return null;
        }
        ConsumerRecord<byte[], byte[]> record = records.get(index++);
        position = record.offset() + 1;
        return record;
    }

    /** Whether all records of the range were returned. Offsets may have no record: markers, compacted records. */
    boolean isFinished() {
        long next = index < records.size() ? records.get(index).offset() : polledUntil;
        if (next < until) {
            return false;
        }
        position = until;
        return true;
    }

    /**
     * Adds the records of a poll. Called when no records are left.
     *
     * @param consumerPosition the consumer's position after the poll
     */
    void polled(List<ConsumerRecord<byte[], byte[]>> polledRecords, long consumerPosition) {
        records = polledRecords;
        index = 0;
        polledUntil = consumerPosition;
    }

    /** The offset that the next poll continues at. */
    long polledUntil() {
        return polledUntil;
    }

    /** The offset after the range. */
    long until() {
        return until;
    }
}
