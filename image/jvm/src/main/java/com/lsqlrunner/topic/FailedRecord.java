package com.lsqlrunner.topic;

/**
 * What happened to a failed record.
 *
 * @param action {@code dead_letter} or {@code skipped}
 * @param code of the error
 * @param topic the source
 */
public record FailedRecord(String action, String code, String topic) {
    /** The name of the number of such records, as in the metrics of a batch. */
    public String countName() {
        return action + "/" + code + "/" + topic;
    }
}
