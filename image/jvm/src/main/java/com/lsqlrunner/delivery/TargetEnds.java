package com.lsqlrunner.delivery;

import java.io.Serializable;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Offsets in the targets of a query.
 *
 * @param offsets the end of each partition at some moment
 * @param ids by topic, its id at that moment; without topics of brokers that have no ids. A topic that was deleted and
 *     created again has another one
 */
public record TargetEnds(Map<TopicPartition, Long> offsets, Map<String, String> ids) implements Serializable {
    private static final long serialVersionUID = 1L;

    /**
     * The offsets in the topics that exist now. In a topic that was created again, all records are after these offsets.
     *
     * @param present by topic, its id now
     */
    TargetEnds in(Map<String, String> present) {
        Map<TopicPartition, Long> ends = new HashMap<>(offsets);
        ends.replaceAll((partition, offset) -> isSame(partition.topic(), present) ? offset : 0);
        Map<String, String> known = new HashMap<>(ids);
        known.replaceAll(present::getOrDefault);
        return new TargetEnds(ends, known);
    }

    /** Whether a topic was not created again; true if an id is not known. */
    private boolean isSame(String topic, Map<String, String> present) {
        String id = ids.get(topic);
        return id == null || id.equals(present.getOrDefault(topic, id));
    }

    /** The first offset of each partition. */
    TargetEnds atBeginning() {
        Map<TopicPartition, Long> first = new HashMap<>(offsets);
        first.replaceAll((partition, end) -> 0L);
        return new TargetEnds(first, ids);
    }

    /** The offsets in some topics. */
    TargetEnds of(Collection<String> topics) {
        TargetEnds ends = new TargetEnds(new HashMap<>(offsets), new HashMap<>(ids));
        ends.offsets.keySet().removeIf(partition -> !topics.contains(partition.topic()));
        ends.ids.keySet().retainAll(topics);
        return ends;
    }
}
