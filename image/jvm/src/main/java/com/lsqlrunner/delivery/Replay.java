package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.TopicPartition;

/**
 * The batch that runs again, or the first one.
 *
 * @param batch its id
 * @param hasBegun whether it is planned, so that an earlier process may have written some of its records
 * @param inserts for a query without state: its positions for each INSERT; null for a query with state
 * @param opening of the batch, if it was open: an earlier process may have written records with this name; else null
 */
public record Replay(long batch, boolean hasBegun, List<InsertPositions> inserts, String opening)
        implements Serializable {
    private static final long serialVersionUID = 1L;

    /**
     * The end of the name of a batch: its id; if it was open, its opening; if a group has several results, the number
     * of the record in its task.
     */
    private static final Pattern NAME = Pattern.compile("([0-9]+)(?:\\.([^.]+)(?:\\.([0-9]+))?)?");

    /** The batch with the name of its opening; null if it was not open. */
    Replay opened(String name) {
        return new Replay(batch, hasBegun, inserts, name);
    }

    /** Whether an earlier process may have written some of its records. */
    boolean isRepeated() {
        return hasBegun || opening != null;
    }

    /**
     * Whether the batch may write a record with this identity.
     *
     * <p>Without state, a record is written once for its source record, whose identity is unique forever. With state, a
     * batch writes one record for each group or joined pair.
     *
     * @param name the end of the name of the batch that has written the record
     */
    boolean mayWrite(String name, long high, long low) {
        return inserts == null ? isOfBatch(name) : inserts.stream().anyMatch(insert -> insert.mayWrite(high, low));
    }

    private boolean isOfBatch(String name) {
        Matcher parts = NAME.matcher(name);
        return parts.matches()
                && Long.parseLong(parts.group(1)) == batch
                && (parts.group(2) == null ? hasBegun : parts.group(2).equals(opening));
    }

    /** The number of one of several results of a group that were written while the batch was open; else 0. */
    long numberOf(String name) {
        Matcher parts = NAME.matcher(name);
        return parts.matches() && parts.group(3) != null ? Long.parseLong(parts.group(3)) : 0;
    }

    /** Without state: the source partitions that a record with this identity may come from. */
    List<TopicPartition> sources(long high, long low) {
        return inserts.stream()
                .filter(insert -> insert.mayWrite(high, low))
                .map(insert -> new TopicPartition(insert.topic(), (int) high))
                .toList();
    }
}
