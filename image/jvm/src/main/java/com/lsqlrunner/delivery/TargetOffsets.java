package com.lsqlrunner.delivery;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.lsqlrunner.fs.AtomicFile;
import com.lsqlrunner.fs.Owner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Offsets in the targets of a query at which the search for the records of a batch begins: no record of the batch is
 * before them. Older offsets are as correct as newer ones, but the search takes longer.
 *
 * <p>The offsets are in a file of the checkpoint: {@code [{"batch": 7, "offsets": {"topic": {"0": 123}}, "ids":
 * {"topic": "..."}}, ...]}. An entry is valid for its batch and all later ones. It has {@code "aborted": true} if the
 * brokers have aborted a transaction of the query since: the brokers cannot tell this to a start after a kill.
 */
final class TargetOffsets {
    /** The entries of the running batch and of the next batch. */
    private static final int KEPT = 2;

    private static final ObjectMapper JSON = new ObjectMapper();

    /** The form in the file: offsets by topic and number of the partition. */
    @JsonInclude(JsonInclude.Include.NON_DEFAULT)
    private record Entry(
            @JsonInclude long batch,
            @JsonInclude Map<String, Map<Integer, Long>> offsets,
            boolean aborted,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> ids) {
        private Entry {
            ids = ids == null ? Map.of() : ids;
        }

        private static Entry of(long batch, TargetEnds ends, boolean aborted) {
            return new Entry(batch, OffsetsByTopic.of(ends.offsets()), aborted, new TreeMap<>(ends.ids()));
        }

        private TargetEnds ends() {
            return new TargetEnds(OffsetsByTopic.byPartition(offsets), ids);
        }
    }

    private final AtomicFile file;
    private final List<Entry> entries;

    private TargetOffsets(AtomicFile file, List<Entry> entries) {
        this.file = file;
        this.entries = entries;
    }

    /** The offsets in a file, which may not exist. */
    static TargetOffsets in(AtomicFile file) {
        byte[] json = file.read();
        try {
            List<Entry> entries = json == null ? List.of() : JSON.readValue(json, new TypeReference<>() {});
            return new TargetOffsets(file, new ArrayList<>(entries));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /**
     * The newest offsets that are valid for a batch; null if there are none. Removes the offsets of later batches: in
     * the continuous mode, they are saved before the end of the batch, and when the batch runs again, it may end at
     * other positions.
     *
     * @param batch the batch that an earlier process has not ended
     * @param ids of the topics now
     */
    synchronized TargetEnds continueAt(long batch, Map<String, String> ids) {
        List<Entry> before = List.copyOf(entries);
        entries.removeIf(entry -> entry.batch > batch);
        entries.replaceAll(entry -> Entry.of(entry.batch, entry.ends().in(ids), entry.aborted));
        if (!entries.equals(before)) {
            write();
        }
        return of(batch);
    }

    /** The newest offsets that are valid for a batch; null if there are none. */
    synchronized TargetEnds of(long batch) {
        Entry entry = entry(batch);
        return entry == null ? null : entry.ends();
    }

    private Entry entry(long batch) {
        for (int index = entries.size() - 1; index >= 0; index--) {
            if (entries.get(index).batch <= batch) {
                return entries.get(index);
            }
        }
        return null;
    }

    /** Whether the brokers have aborted a transaction of the query after the offsets that are valid for a batch. */
    synchronized boolean isAborted(long batch) {
        Entry entry = entry(batch);
        return entry != null && entry.aborted;
    }

    /**
     * Saves that the brokers have aborted a transaction of the query after the offsets that are valid for a batch, if
     * any.
     */
    synchronized void saveAborted(long batch) {
        Entry entry = entry(batch);
        if (entry != null && !entry.aborted) {
            entries.set(entries.indexOf(entry), Entry.of(entry.batch, entry.ends(), true));
            write();
        }
    }

    /** Saves offsets that are valid for a batch and all later ones. */
    synchronized void save(long batch, TargetEnds ends) {
        save(Entry.of(batch, ends, false));
    }

    /**
     * Saves offsets that are valid for a batch and all later ones, with the partitions of the offsets that were valid
     * before.
     */
    synchronized void extend(long batch, TargetEnds ends) {
        save(Entry.of(batch, ends, isAborted(batch)));
    }

    private void save(Entry saved) {
        entries.removeIf(entry -> entry.batch >= saved.batch);
        entries.add(saved);
        while (entries.size() > KEPT) {
            entries.remove(0);
        }
        write();
    }

    private void write() {
        Owner.check();
        try {
            file.write(JSON.writeValueAsBytes(entries));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
