package com.lsqlrunner.topic;

/**
 * The action of the error policy for a failed record.
 *
 * @param action {@code dead_letter} or {@code skipped}
 * @param code of the error
 * @param topic the source
 */
public record FailedRecord(String action, String code, String topic) {
    /** The name of the count of such records in the metrics of a batch. */
    public String countName() {
        return action + "/" + code + "/" + topic;
    }
}
