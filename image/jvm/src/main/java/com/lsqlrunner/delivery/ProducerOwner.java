package com.lsqlrunner.delivery;

import java.io.Serializable;

/** The producer that has a transactional id: brokers refuse an earlier one. */
public record ProducerOwner(long producerId, int epoch) implements Serializable {
    private static final long serialVersionUID = 1L;

    /** Whether this one has taken the id from another one, and none was between them. */
    boolean follows(ProducerOwner before) {
        return before != null && producerId == before.producerId && epoch == before.epoch + 1;
    }
}
