package com.lsqlrunner.delivery;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.fs.AtomicFile;
import com.lsqlrunner.fs.Owner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * The INSERTs that a query without state had at its last start, and the offsets in the targets of the last records of
 * removed INSERTs.
 *
 * <p>A process may have been killed before an INSERT was removed, so some records of the INSERT come after the saved
 * position. The remembered offsets of the targets advance past these records. When the INSERT is added again, they are
 * searched at the offsets that are saved here.
 *
 * <p>The history is in a file of the checkpoint: {@code {"inserts": {"17": ["target"]}, "removed": {"4": {"target":
 * {"0": {"from": 5, "until": 9}}}}, "ids": {"target": "..."}}}, by the tag of the INSERT.
 */
final class InsertHistory {
    /** The number of removed INSERTs that are remembered, the newest ones. */
    private static final int KEPT = 100;

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The form in the file. */
    private record Content(
            Map<Integer, List<String>> inserts,
            LinkedHashMap<Integer, Map<String, TreeMap<Integer, TargetRange>>> removed,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> ids) {
        private Content {
            ids = ids == null ? Map.of() : ids;
        }
    }

    private final AtomicFile file;
    private Content content;

    private InsertHistory(AtomicFile file, Content content) {
        this.file = file;
        this.content = content;
    }

    /** The history in a file, which may not exist. */
    static InsertHistory in(AtomicFile file) {
        byte[] json = file.read();
        try {
            Content saved = json == null ? null : JSON.readValue(json, Content.class);
            return new InsertHistory(
                    file, saved == null ? new Content(Map.of(), new LinkedHashMap<>(), Map.of()) : saved);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The targets of the INSERTs that were removed since the last start. */
    Set<String> targetsOfRemoved(Collection<InsertPositions> present) {
        Set<String> topics = new HashSet<>();
        removed(present).values().forEach(topics::addAll);
        return topics;
    }

    private Map<Integer, List<String>> removed(Collection<InsertPositions> present) {
        Map<Integer, List<String>> removed = new HashMap<>(content.inserts);
        present.forEach(insert -> removed.remove(insert.tag()));
        return removed;
    }

    /**
     * Saves the INSERTs of a start, before it writes a record.
     *
     * @param from where the search for records of the last process begins, by partition; others begin at their first
     *     record
     * @param ends of the targets, including existing targets of removed INSERTs
     */
    void begin(Collection<InsertPositions> present, Map<TopicPartition, Long> from, TargetEnds ends) {
        Map<Integer, List<String>> inserts = new TreeMap<>();
        present.forEach(insert -> inserts.put(insert.tag(), insert.targets()));
        var removed = inTopics(ends.ids());
        removed(present).forEach((tag, targets) -> {
            Map<String, TreeMap<Integer, TargetRange>> ranges = new TreeMap<>();
            ends.offsets().forEach((partition, end) -> {
                if (targets.contains(partition.topic())) {
                    ranges.computeIfAbsent(partition.topic(), topic -> new TreeMap<>())
                            .put(partition.partition(), new TargetRange(from.getOrDefault(partition, 0L), end));
                }
            });
            // The INSERT may have been added again only for a short time.
            Map<String, TreeMap<Integer, TargetRange>> before = removed.remove(tag);
            if (before != null) {
                before.forEach((topic, partitions) ->
                        partitions.forEach((partition, range) -> ranges.computeIfAbsent(topic, name -> new TreeMap<>())
                                .merge(partition, range, TargetRange::joined)));
            }
            removed.put(tag, ranges);
        });
        for (Iterator<Integer> tags = removed.keySet().iterator(); removed.size() > KEPT; ) {
            tags.next();
            tags.remove();
        }
        Map<String, String> ids = new TreeMap<>(content.ids);
        ids.putAll(ends.ids());
        ids.keySet().removeIf(topic -> removed.values().stream().noneMatch(ranges -> ranges.containsKey(topic)));
        replace(new Content(inserts, removed, ids));
    }

    /** The ranges of removed INSERTs, without those in topics that were deleted, and created again with these ids. */
    private LinkedHashMap<Integer, Map<String, TreeMap<Integer, TargetRange>>> inTopics(Map<String, String> ids) {
        var kept = new LinkedHashMap<>(content.removed);
        kept.replaceAll((tag, ranges) -> {
            Map<String, TreeMap<Integer, TargetRange>> byTopic = new TreeMap<>(ranges);
            byTopic.keySet().removeIf(topic -> {
                String before = content.ids.get(topic);
                return before != null && !before.equals(ids.getOrDefault(topic, before));
            });
            return byTopic;
        });
        return kept;
    }

    /**
     * The ranges with the last records of INSERTs that were added again, by partition of the targets.
     *
     * @param ends of the targets
     */
    Map<TopicPartition, TargetRange> returned(Collection<InsertPositions> present, Map<TopicPartition, Long> ends) {
        Map<TopicPartition, TargetRange> byPartition = new HashMap<>();
        for (InsertPositions insert : present) {
            content.removed
                    .getOrDefault(insert.tag(), Map.of())
                    .forEach((topic, ranges) -> ranges.forEach((number, range) -> {
                        TopicPartition partition = new TopicPartition(topic, number);
                        // Else the topic was deleted, and may have been created again.
                        if (range.until() <= ends.getOrDefault(partition, -1L)) {
                            byPartition.merge(partition, range, TargetRange::joined);
                        }
                    }));
        }
        return byPartition;
    }

    /** The positions have passed all records of an earlier process: removes the ranges of present INSERTs. */
    void settle() {
        var removed = new LinkedHashMap<>(content.removed);
        if (removed.keySet().removeAll(content.inserts.keySet())) {
            replace(new Content(content.inserts, removed, content.ids));
        }
    }

    private void replace(Content changed) {
        if (changed.equals(content)) {
            return;
        }
        Owner.check();
        try {
            file.write(JSON.writeValueAsBytes(changed));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        content = changed;
    }
}
