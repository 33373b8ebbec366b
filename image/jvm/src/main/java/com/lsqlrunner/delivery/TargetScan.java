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

/** Finds the records of the repeated batch that a query has already written to its targets. */
final class TargetScan {
    private static final Duration POLL = Duration.ofMillis(200);

    private final byte[] writer;
    private final Replay replay;
    private final Duration patience;
    private final boolean keepsRecords;
    private final WrittenRecords written = new WrittenRecords();

    /**
     * @param writer the value of {@link RecordHeaderNames#BATCH} up to the batch id, with the slash
     * @param patience the longest wait for a record that the consumer does not return
     * @param keepsRecords whether the last results of an open batch are kept, to delete them
     */
    TargetScan(String writer, Replay replay, Duration patience, boolean keepsRecords) {
        this.keepsRecords = keepsRecords;
        this.writer = writer.getBytes(StandardCharsets.UTF_8);
        this.replay = replay;
        this.patience = patience;
    }

    /** The records of the query that were read so far. */
    WrittenRecords written() {
        return written;
    }

    /**
     * Reads partitions of the targets.
     *
     * @param consumer without a group; it begins at the first record where an offset does not exist
     * @param from where to begin, by partition; other partitions begin at their first record
     * @param until where to end, by partition
     * @throws TimeoutException the consumer returned nothing for {@code patience}: it reads committed records only, and
     *     a producer has a transaction open
     */
    void read(Consumer<byte[], byte[]> consumer, Map<TopicPartition, Long> from, Map<TopicPartition, Long> until) {
        Set<TopicPartition> unread = new HashSet<>();
        until.forEach((partition, end) -> {
            if (begin(from, partition, end) < end) {
                unread.add(partition);
            }
        });
        consumer.assign(unread);
        consumer.resume(unread); // an earlier search with this consumer has paused them at its end
        unread.forEach(partition -> consumer.seek(partition, begin(from, partition, until.get(partition))));
        Map<TopicPartition, Long> positions = new HashMap<>();
        long deadline = System.nanoTime() + patience.toNanos();
        while (!unread.isEmpty()) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                add(record);
            }
            for (TopicPartition partition : Set.copyOf(unread)) {
                long position = consumer.position(partition);
                if (position >= until.get(partition)) {
                    unread.remove(partition);
                    consumer.pause(Set.of(partition));
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
    }

    /**
     * The offset at which reading a partition begins: its first record, if the partition is new or its topic was
     * created again.
     */
    private static long begin(Map<TopicPartition, Long> from, TopicPartition partition, long end) {
        long begin = from.getOrDefault(partition, 0L);
        return begin > end ? 0 : begin;
    }

    private void add(ConsumerRecord<byte[], byte[]> record) {
        Header identity = record.headers().lastHeader(RecordHeaderNames.IDENTITY);
        Header of = record.headers().lastHeader(RecordHeaderNames.BATCH);
        if (!isIdentity(identity) || of == null || of.value() == null || !isOfQuery(of.value())) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(identity.value());
        long high = bytes.getLong();
        long low = bytes.getLong();
        String name = nameOfBatch(of.value());
        if (replay.mayWrite(name, high, low)) {
            long number = replay.numberOf(name);
            if (number > 0) {
                boolean isKept = keepsRecords && record.value() != null;
                written.addOpened(high, low, number, record.value(), isKept ? WrittenRecord.of(record) : null);
            } else if (replay.inserts() == null) {
                written.add(high, low);
            } else {
                written.addOfRecord(high, low, replay.sources(high, low));
            }
        }
    }

    private static boolean isIdentity(Header header) {
        return header != null && header.value() != null && header.value().length == 2 * Long.BYTES;
    }

    private boolean isOfQuery(byte[] name) {
        return name.length > writer.length && Arrays.equals(name, 0, writer.length, writer, 0, writer.length);
    }

    private String nameOfBatch(byte[] name) {
        return new String(name, writer.length, name.length - writer.length, StandardCharsets.UTF_8);
    }
}
