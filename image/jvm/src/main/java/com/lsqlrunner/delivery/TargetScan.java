package com.lsqlrunner.delivery;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Header;

/** Finds the records in the targets that a query has written of the batch that runs again. */
final class TargetScan {
    private static final Duration POLL = Duration.ofMillis(200);

    private final byte[] writer;
    private final Replay replay;
    private final Duration patience;

    /**
     * @param writer the value of {@link RecordHeaderNames#BATCH} up to the batch id, with the slash
     * @param patience the longest wait for records that are not committed
     */
    TargetScan(String writer, Replay replay, Duration patience) {
        this.writer = writer.getBytes(StandardCharsets.UTF_8);
        this.replay = replay;
        this.patience = patience;
    }

    /**
     * Reads the targets.
     *
     * @param committed a consumer of committed records without a group, which begins at the first record where an
     *     offset does not exist
     * @param from where to begin, by partition; other partitions begin at their first record
     * @param until the ends of all partitions of the targets
     * @throws TimeoutException another producer has a transaction open for longer than {@code patience}
     */
    WrittenRecords scan(
            Consumer<byte[], byte[]> committed, Map<TopicPartition, Long> from, Map<TopicPartition, Long> until) {
        WrittenRecords found = new WrittenRecords();
        Set<TopicPartition> unread = new HashSet<>();
        until.forEach((partition, end) -> {
            if (begin(from, partition, end) < end) {
                unread.add(partition);
            }
        });
        committed.assign(unread);
        unread.forEach(partition -> committed.seek(partition, begin(from, partition, until.get(partition))));
        Map<TopicPartition, Long> positions = new HashMap<>();
        long deadline = System.nanoTime() + patience.toNanos();
        while (!unread.isEmpty()) {
            for (ConsumerRecord<byte[], byte[]> record : committed.poll(POLL)) {
                add(record, found);
            }
            for (TopicPartition partition : Set.copyOf(unread)) {
                long position = committed.position(partition);
                if (position >= until.get(partition)) {
                    unread.remove(partition);
                    committed.pause(Set.of(partition));
                } else if (!Long.valueOf(position).equals(positions.put(partition, position))) {
                    deadline = System.nanoTime() + patience.toNanos();
                }
            }
            if (!unread.isEmpty() && System.nanoTime() > deadline) {
                TopicPartition first = unread.iterator().next();
                throw new TimeoutException("the records of " + first + " from offset " + positions.get(first)
                        + " are not committed: another producer has an open transaction");
            }
        }
        return found;
    }

    /** Where a partition is read from: its first record, if it is new or its topic was created again. */
    private static long begin(Map<TopicPartition, Long> from, TopicPartition partition, long end) {
        long begin = from.getOrDefault(partition, 0L);
        return begin > end ? 0 : begin;
    }

    private void add(ConsumerRecord<byte[], byte[]> record, WrittenRecords found) {
        Header identity = record.headers().lastHeader(RecordHeaderNames.IDENTITY);
        Header of = record.headers().lastHeader(RecordHeaderNames.BATCH);
        if (identity == null || of == null || !isOfQuery(of.value())) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(identity.value());
        long high = bytes.getLong();
        long low = bytes.getLong();
        if (replay.mayWrite(batch(of.value()), high, low)) {
            if (replay.positions() == null) {
                found.add(high, low);
            } else {
                found.addOfRecord(high, low);
            }
        }
    }

    private boolean isOfQuery(byte[] name) {
        return name.length > writer.length && Arrays.equals(name, 0, writer.length, writer, 0, writer.length);
    }

    private long batch(byte[] name) {
        return Long.parseLong(new String(name, writer.length, name.length - writer.length, StandardCharsets.UTF_8));
    }
}
