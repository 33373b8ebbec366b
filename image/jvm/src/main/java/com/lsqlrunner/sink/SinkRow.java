package com.lsqlrunner.sink;

/**
 * One row for a sink.
 *
 * @param topic of the record that it was made of; null for a result of an aggregate
 * @param partition of that record
 * @param offset of that record
 * @param deleted whether the row of this key is to go: of {@code values} only the key's count
 * @param values in the order of the table's columns; strings, boxed primitives, BigDecimal, byte[], LocalDate,
 *     OffsetDateTime
 */
public record SinkRow(String topic, int partition, long offset, boolean deleted, Object[] values) {
    /** What the row's exactly-once mark stands under: the partition that it came from, else the task. */
    public String source(Sink.Task task) {
        return topic == null ? "task/" + task.task() : topic + "/" + partition;
    }
}
