package com.lsqlrunner.sink;

/**
 * One row for a sink.
 *
 * @param topic of the source record; null for the result of an aggregate
 * @param partition of the source record
 * @param offset of the source record
 * @param deleted whether the row with this key is deleted; of {@code values} only the key is then used
 * @param values in the order of the table's columns: strings, boxed primitives, BigDecimal, byte[], LocalDate,
 *     OffsetDateTime
 */
public record SinkRow(String topic, int partition, long offset, boolean deleted, Object[] values) {
    /** The source whose last batch is saved with the row: the partition of the record, else the task. */
    public String source(Sink.Task task) {
        return topic == null ? "task/" + task.task() : topic + "/" + partition;
    }
}
